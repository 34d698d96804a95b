/** A color in OKLCH: lightness from 0 to 1, chroma, and hue in degrees. */
export interface Color {
  readonly lightness: number;
  readonly chroma: number;
  readonly hue: number;
}

/** What pages, the console and mails show of whose service this is. Everything that names or colors it reads it here. */
export interface Brand {
  readonly name: string;
  /** On paper, and what stands on it. */
  readonly light: { readonly accent: Color; readonly onAccent: Color };
  /** The same on a dark ground. */
  readonly dark: { readonly accent: Color; readonly onAccent: Color };
}

export const BRAND: Brand = {
  name: 'Tessera',
  light: {
    accent: { lightness: 0.42, chroma: 0.15, hue: 330 },
    onAccent: { lightness: 1, chroma: 0, hue: 0 },
  },
  dark: {
    accent: { lightness: 0.78, chroma: 0.11, hue: 330 },
    onAccent: { lightness: 0.19, chroma: 0.03, hue: 330 },
  },
};

/** A color as style sheets write it. */
export const cssColor = ({ lightness, chroma, hue }: Color): string =>
  `oklch(${Number((lightness * 100).toFixed(2))}% ${chroma} ${hue})`;

/** A color as mail programs read it, in hexadecimal (https://www.w3.org/TR/css-color-4/#color-conversion-code). */
export function hexColor({ lightness, chroma, hue }: Color): string {
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const l = (lightness + 0.3963377773761749 * a + 0.2158037573099136 * b) ** 3;
  const m = (lightness - 0.1055613458156586 * a - 0.0638541728258133 * b) ** 3;
  const s = (lightness - 0.0894841775298119 * a - 1.2914855480194092 * b) ** 3;
  const linear = [
    4.076741662 * l - 3.307711591 * m + 0.230969928 * s,
    -1.268438004 * l + 2.609757401 * m - 0.341319396 * s,
    -0.004196086 * l - 0.703418614 * m + 1.707614701 * s,
  ];
  const channels = linear.map((value) => {
    const encoded = value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055;
    return Math.round(Math.min(1, Math.max(0, encoded)) * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${channels.join('')}`;
}
