/**
 * The nonce by which the page's Content Security Policy lets components insert styles: that of
 * `<meta property="csp-nonce">`, where Vite puts it. Empty if the page has none.
 */
export function pageNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
