"""How well an audit, or a judge, agrees with people: samples to label, agreement, baselines, drift."""
