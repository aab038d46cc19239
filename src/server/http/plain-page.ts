/* The pages that the gateway itself writes for people, without scripts. They work without the portal. */

/** The content security policy of a page with inline styles and without scripts. */
export const plainPagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"

/** A page with a title, which is also its heading. `style`: further CSS. */
export function plainPage(title: string, html: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto 0; padding: 0 1rem }
h1 { font-size: 1.4rem }
${style}
</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${html}
</body>
</html>
`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => entities[one] ?? one)
}
