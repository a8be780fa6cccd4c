"""Components for several computers."""

from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Naming, Number, SlotRule, Wording

DOMAIN = Domain(
    name="pc_build",
    id_key="component_id",
    id_prefix="PC",
    naming=Naming(
        by="category",
        labels={
            "cpu": ("Eight-Core CPU", "Office CPU", "Server CPU", "Laptop CPU"),
            "gpu": ("Studio GPU", "Arcade GPU", "Slim GPU", "Tensor GPU"),
            "ram": ("Twin RAM Kit", "Slim RAM", "ECC RAM", "Overclock RAM"),
            "storage": ("Flash Disk", "Hybrid Disk", "Backup Disk", "Boot Disk"),
            "motherboard": ("Mini Board", "Tower Board", "Workstation Board", "Entry Board"),
            "cooling": ("Twin Fan", "Water Loop", "Tall Heatsink", "Quiet Fan"),
        },
    ),
    attributes=(
        Choice(name="category", values=("cpu", "gpu", "ram", "storage", "motherboard", "cooling")),
        Number(name="price", low=50, high=1500),
        Number(name="performance", low=10, high=100),
        Number(name="power", low=20, high=450),
        Choice(
            name="brand",
            values=("Argent", "Bitforge", "Cirrus", "Deltaic", "Emberline", "Fluxor", "Gridstone", "Helix"),
        ),
        Number(name="compatibility", low=60, high=100),
    ),
    slot_rules=(
        SlotRule(name="max_price", bound=Bound.MAX, attribute="price", thresholds=(220, 400, 650, 900, 1500)),
        SlotRule(name="min_performance", bound=Bound.MIN, attribute="performance", thresholds=(20, 40, 60, 75)),
        SlotRule(name="max_power", bound=Bound.MAX, attribute="power", thresholds=(90, 150, 220, 320, 450)),
    ),
    global_rules=(
        GlobalRule(name="total_budget_max", kind=GlobalKind.SUM_MAX, attribute="price", slack=1200, limit=1500),
        GlobalRule(name="total_power_max", kind=GlobalKind.SUM_MAX, attribute="power", slack=500, limit=450),
        GlobalRule(name="same_brand_max", kind=GlobalKind.REPEAT_MAX, attribute="brand"),
        GlobalRule(name="same_category_max", kind=GlobalKind.REPEAT_MAX, attribute="category"),
        GlobalRule(
            name="high_performance_min",
            kind=GlobalKind.COUNT_MIN_THRESHOLD,
            attribute="performance",
            counted=75,
            slack=2,
        ),
        GlobalRule(
            name="total_compatibility_min", kind=GlobalKind.SUM_MIN, attribute="compatibility", slack=180, limit=60
        ),
    ),
    wording=Wording(
        task="PC build configuration",
        grid=(
            "This PC build task has {rows} build configurations as rows "
            "and {cols} component slots within each configuration as columns."
        ),
        item="component",
        items="components",
    ),
)
