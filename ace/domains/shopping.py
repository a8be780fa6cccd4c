"""Groceries for the days of a week."""

from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Naming, Number, SlotRule, Wording

DOMAIN = Domain(
    name="shopping",
    id_key="product_id",
    id_prefix="P",
    naming=Naming(
        by="category",
        labels={
            "produce": ("Carrots", "Grapes", "Peppers", "Spinach", "Pears"),
            "dairy": ("Kefir", "Ricotta", "Skyr", "Gouda", "Buttermilk"),
            "snack": ("Pretzels", "Popcorn", "Trail Mix", "Rice Cakes", "Wafers"),
            "protein": ("Salmon", "Turkey", "Tempeh", "Lentils", "Egg Whites"),
            "grain": ("Barley", "Couscous", "Rye Loaf", "Polenta", "Noodles"),
            "beverage": ("Lemonade", "Cocoa", "Iced Tea", "Kombucha", "Cider"),
        },
    ),
    attributes=(
        Choice(name="category", values=("produce", "dairy", "snack", "protein", "grain", "beverage")),
        Number(name="price", low=2, high=25),
        Number(name="calories", low=50, high=800),
        Number(name="protein", low=0, high=40),
        Choice(
            name="brand",
            values=("Alder", "Brookside", "Cobalt", "Dovetail", "Everfield", "Foxglove", "Goldmill", "Hearthway"),
        ),
        Number(name="weight", low=200, high=1500),
    ),
    slot_rules=(
        SlotRule(name="max_price", bound=Bound.MAX, attribute="price", thresholds=(8, 12, 16, 20, 25)),
        SlotRule(name="min_calories", bound=Bound.MIN, attribute="calories", thresholds=(50, 150, 250, 350)),
        SlotRule(name="min_protein", bound=Bound.MIN, attribute="protein", thresholds=(0, 10, 20, 30)),
    ),
    global_rules=(
        GlobalRule(name="weekly_budget_max", kind=GlobalKind.SUM_MAX, attribute="price", slack=60, limit=25),
        GlobalRule(name="weekly_calories_min", kind=GlobalKind.SUM_MIN, attribute="calories", slack=600, limit=0),
        GlobalRule(name="weekly_protein_min", kind=GlobalKind.SUM_MIN, attribute="protein", slack=90, limit=0),
        GlobalRule(name="same_brand_max", kind=GlobalKind.REPEAT_MAX, attribute="brand"),
        GlobalRule(name="weekly_weight_max", kind=GlobalKind.SUM_MAX, attribute="weight", slack=3000, limit=1500),
        GlobalRule(name="same_category_max", kind=GlobalKind.REPEAT_MAX, attribute="category"),
    ),
    wording=Wording(
        task="grocery shopping",
        grid=(
            "This grocery shopping plan has {rows} shopping days as rows "
            "and {cols} item slots to fill per day as columns."
        ),
        item="product",
        items="products",
    ),
)
