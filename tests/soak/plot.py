"""Draws time series as SVG, with one panel for each."""

PANEL, WIDTH, MARGIN = 90, 900, 60


def line(values, width, height):
    top = max(values) or 1
    step = width / max(1, len(values) - 1)
    return " ".join(f"{number * step:.1f},{height - value / top * height:.1f}" for number, value in enumerate(values))


def svg(title, minutes, series):
    """`series`: name and values of each panel, sampled at equal intervals over `minutes`."""
    height = MARGIN + (PANEL + 40) * len(series)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN}" height="{height}" '
             f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
             f'<text x="{MARGIN}" y="28" font-size="16">{title}</text>']
    for number, (name, values) in enumerate(series.items()):
        top = MARGIN + number * (PANEL + 40)
        parts.append(
            f'<g transform="translate({MARGIN},{top})"><text y="-6">{name}: at most {max(values):,.1f}, at the end '
            f'{values[-1]:,.1f}</text><rect width="{WIDTH}" height="{PANEL}" fill="none" stroke="#ccc"/>'
            f'<polyline points="{line(values, WIDTH, PANEL)}" fill="none" stroke="#2563eb" stroke-width="1.5"/>'
            f'<text y="{PANEL + 16}">0</text><text x="{WIDTH}" y="{PANEL + 16}" text-anchor="end">{minutes} min</text></g>')
    return "\n".join([*parts, "</svg>\n"])
