"""Activities on the days of a trip."""

from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Naming, Number, SlotRule, Wording

DOMAIN = Domain(
    name="travel",
    id_key="activity_id",
    id_prefix="A",
    naming=Naming(
        by="category",
        labels={
            "museum": ("Maritime Museum", "Portrait Gallery", "Toy Museum", "Railway Hall"),
            "outdoor": ("Canyon Hike", "Kayak Hour", "Lake Swim", "Dune Ride"),
            "food": ("Brewery Visit", "Cheese Tasting", "Noodle Lesson", "Rooftop Lunch"),
            "show": ("Puppet Show", "Opera Evening", "Magic Act", "Open Mic"),
            "landmark": ("Old Lighthouse", "City Gate", "Clock Tower", "Harbour Fort"),
            "market": ("Flower Market", "Antiques Fair", "Spice Stalls", "Book Market"),
        },
    ),
    attributes=(
        Choice(name="category", values=("museum", "outdoor", "food", "show", "landmark", "market")),
        Number(name="cost", low=10, high=200),
        Number(name="duration", low=1, high=6),
        Number(name="crowd_level", low=1, high=5),
        Choice(
            name="location",
            values=(
                "North Bank",
                "South Bank",
                "Castle Hill",
                "Docklands",
                "University",
                "Garden Town",
                "Mill Quarter",
                "West End",
            ),
        ),
        Number(name="rating", low=1, high=5),
    ),
    slot_rules=(
        SlotRule(name="max_cost", bound=Bound.MAX, attribute="cost", thresholds=(60, 90, 120, 160, 200)),
        SlotRule(name="max_duration", bound=Bound.MAX, attribute="duration", thresholds=(2, 3, 4, 5, 6)),
        SlotRule(name="max_crowd", bound=Bound.MAX, attribute="crowd_level", thresholds=(2, 3, 4, 5)),
    ),
    global_rules=(
        GlobalRule(name="total_budget_max", kind=GlobalKind.SUM_MAX, attribute="cost", slack=300, limit=200),
        GlobalRule(name="museum_min", kind=GlobalKind.COUNT_MIN, attribute="category", counted="museum", slack=1),
        GlobalRule(name="outdoor_min", kind=GlobalKind.COUNT_MIN, attribute="category", counted="outdoor", slack=1),
        GlobalRule(name="location_repeat_max", kind=GlobalKind.REPEAT_MAX, attribute="location"),
        GlobalRule(name="daily_duration_max", kind=GlobalKind.MAX_ROW_SUM, attribute="duration", slack=2, limit=6),
        GlobalRule(name="rating_total_min", kind=GlobalKind.SUM_MIN, attribute="rating", slack=10, limit=1),
    ),
    wording=Wording(
        task="travel itinerary",
        grid="This travel itinerary has {rows} travel days as rows and {cols} activity slots per day as columns.",
        item="activity",
        items="activities",
    ),
)
