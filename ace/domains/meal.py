"""Dishes for the meals of a week."""

from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Naming, Number, SlotRule, Wording

DOMAIN = Domain(
    name="meal",
    id_key="dish_id",
    id_prefix="D",
    naming=Naming(
        by="cuisine",
        labels={
            "asian": ("Pho", "Bibimbap", "Green Curry", "Teriyaki"),
            "mexican": ("Enchiladas", "Tostadas", "Pozole", "Tamales"),
            "italian": ("Gnocchi", "Minestrone", "Calzone", "Ravioli"),
            "american": ("Meatloaf", "Clam Chowder", "Mac and Cheese", "Chili Dog"),
            "mediterranean": ("Moussaka", "Tabbouleh", "Shakshuka", "Paella"),
            "fusion": ("Kimchi Burger", "Curry Pasta", "Sushi Taco", "Miso Risotto"),
        },
    ),
    attributes=(
        Number(name="calories", low=150, high=900),
        Number(name="protein", low=5, high=60),
        Number(name="price", low=5, high=35),
        Choice(name="cuisine", values=("asian", "mexican", "italian", "american", "mediterranean", "fusion")),
        Choice(
            name="chef",
            values=(
                "Chef Abbott",
                "Chef Bianchi",
                "Chef Castro",
                "Chef Dubois",
                "Chef Eklund",
                "Chef Farah",
                "Chef Garza",
                "Chef Hayashi",
            ),
        ),
        Number(name="spiciness", low=1, high=5),
    ),
    slot_rules=(
        SlotRule(name="max_calories", bound=Bound.MAX, attribute="calories", thresholds=(350, 500, 650, 800, 900)),
        SlotRule(name="min_protein", bound=Bound.MIN, attribute="protein", thresholds=(5, 15, 25, 35)),
        SlotRule(name="max_price", bound=Bound.MAX, attribute="price", thresholds=(10, 15, 20, 28, 35)),
    ),
    global_rules=(
        GlobalRule(name="weekly_calories_max", kind=GlobalKind.SUM_MAX, attribute="calories", slack=700, limit=900),
        GlobalRule(name="weekly_protein_min", kind=GlobalKind.SUM_MIN, attribute="protein", slack=100, limit=0),
        GlobalRule(name="same_cuisine_max", kind=GlobalKind.REPEAT_MAX, attribute="cuisine"),
        GlobalRule(name="same_chef_max", kind=GlobalKind.REPEAT_MAX, attribute="chef"),
        GlobalRule(name="weekly_price_max", kind=GlobalKind.SUM_MAX, attribute="price", slack=90, limit=35),
        GlobalRule(name="weekly_spiciness_max", kind=GlobalKind.SUM_MAX, attribute="spiciness", slack=18, limit=5),
    ),
    wording=Wording(
        task="meal planning",
        grid=(
            "This meal planning task has {rows} planning days as rows and {cols} meal slots to fill per day as columns."
        ),
        item="dish",
        items="dishes",
    ),
)
