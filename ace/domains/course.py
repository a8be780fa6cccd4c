"""Courses in the class time slots of a week."""

from agenthard.ace.domain import Bound, Choice, Domain, GlobalKind, GlobalRule, Naming, Number, SlotRule, Wording

DOMAIN = Domain(
    name="course",
    id_key="course_id",
    id_prefix="C",
    naming=Naming(
        by="category",
        labels={
            "math": ("Algebra", "Calculus", "Geometry", "Probability", "Number Theory"),
            "cs": ("Compilers", "Databases", "Networks", "Robotics", "Security"),
            "core": ("Logic", "Rhetoric", "Ethics", "Statistics Primer", "World History"),
            "elective": ("Film", "Photography", "Marketing", "Poetry", "Theatre"),
            "lab": ("Chemistry Lab", "Circuits Lab", "Optics Lab", "Printing Lab", "Sensor Lab"),
            "seminar": ("Reading Circle", "Research Forum", "Thesis Colloquium", "Debate", "Case Studies"),
        },
    ),
    attributes=(
        Choice(name="category", values=("math", "cs", "core", "elective", "lab", "seminar")),
        Number(name="difficulty", low=1, high=5),
        Number(name="credits", low=1, high=4),
        Number(name="price", low=100, high=500),
        Choice(
            name="teacher",
            values=(
                "Ada Berg",
                "Ben Costa",
                "Cleo Dunn",
                "Dev Erikson",
                "Esme Fischer",
                "Finn Gupta",
                "Gia Hofmann",
                "Hugo Ito",
                "Iris Jansen",
                "Jonas Kim",
                "Kira Lopez",
                "Liam Moreau",
                "Maya Novak",
                "Nils Okafor",
                "Olga Petrov",
                "Pia Quinn",
            ),
        ),
        Number(name="workload", low=1, high=8),
    ),
    slot_rules=(
        SlotRule(name="max_difficulty", bound=Bound.MAX, attribute="difficulty", thresholds=(3, 4, 5)),
        SlotRule(name="min_credits", bound=Bound.MIN, attribute="credits", thresholds=(1, 2, 3)),
        SlotRule(name="max_price", bound=Bound.MAX, attribute="price", thresholds=(280, 340, 400, 460, 500)),
    ),
    global_rules=(
        GlobalRule(name="total_credits_min", kind=GlobalKind.SUM_MIN, attribute="credits", slack=8, limit=1),
        GlobalRule(name="total_price_max", kind=GlobalKind.SUM_MAX, attribute="price", slack=1500, limit=500),
        GlobalRule(name="same_teacher_week_max", kind=GlobalKind.REPEAT_MAX, attribute="teacher"),
        GlobalRule(name="same_category_week_max", kind=GlobalKind.REPEAT_MAX, attribute="category"),
        GlobalRule(name="total_workload_max", kind=GlobalKind.SUM_MAX, attribute="workload", slack=20, limit=8),
    ),
    wording=Wording(
        task="course scheduling",
        grid=(
            "This course scheduling plan has {rows} scheduling days as rows "
            "and {cols} class time slots per day as columns."
        ),
        item="course",
        items="courses",
    ),
)
