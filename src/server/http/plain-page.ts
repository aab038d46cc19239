/*
 * The pages that the gateway itself writes for people, without scripts. They work without the portal, and have its name, its
 * mark and its colours.
 */

/** The content security policy of a page with inline styles and its own icon, without scripts. */
export const plainPagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'"

/** A page with a title, which is also its heading. `style`: further CSS. */
export function plainPage(title: string, html: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(mark)}">
<style>
:root { color-scheme: light dark }
body { background: light-dark(#ffffff, #0f1114); color: light-dark(#1a1e24, #e4e7eb); font: 16px/1.5 system-ui, sans-serif; margin: 0; padding: 12vh 16px 24px }
main { background: light-dark(#ffffff, #1a1e23); border: 1px solid light-dark(#dfe3e8, #2a3038); border-radius: 8px; margin: 0 auto; max-width: 32rem; overflow-wrap: break-word; padding: 24px }
.product { align-items: center; display: flex; font-weight: 600; gap: 8px; margin: 0 }
h1 { font-size: 1.4rem }
a { color: light-dark(#1b5fd0, #72a7ff) }
button { background: light-dark(#1b5fd0, #72a7ff); border: 0; border-radius: 6px; color: light-dark(#ffffff, #0b1a33); cursor: pointer; font: inherit; padding: 6px 14px }
${style}
</style>
</head>
<body>
<main>
<p class="product">${mark} informerql</p>
<h1>${escaped(title)}</h1>
${html}
</main>
</body>
</html>
`
}

/** The mark of the product: that of the portal. */
const mark = `<svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" width="24" height="24" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2f6feb"/><path d="M9 10h14M9 16h14M9 22h8" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/><circle cx="23" cy="22" r="2.6" fill="#7ee2a8"/></svg>`

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
