/** Receives the warnings of an API server. */
export interface WarningObserver {
  /**
   * The API server sent a warning with a response, such as for a deprecated version or an unknown field. Each text is
   * reported once. Without this method, the warnings are warnings of the process (`ApiServerWarning`).
   */
  warned?(text: string): void
}

/** The number of remembered texts. Beyond it, texts are reported again. */
const maxTexts = 1_000
/** The size bound of a text. kube-apiserver sends no more in all warnings of a response. */
const maxTextLength = 4_096

/**
 * Reports each warning of one server once (client-go's `rest.WarningHandler`). Without an observer, the texts become
 * warnings of the process.
 */
export function warningReporter(
  server: string,
  observer: WarningObserver | undefined,
): (text: string) => void {
  const reported = new Set<string>()
  return (text) => {
    if (reported.has(text)) return
    if (reported.size >= maxTexts) reported.clear()
    reported.add(text)
    if (observer?.warned !== undefined) observer.warned(text)
    else process.emitWarning(`${server}: ${text}`, { type: 'ApiServerWarning' })
  }
}

/** RFC 7234, 5.5: a code, an agent and a quoted text. A quoted date may follow, and another warning after a comma. */
const warning = /(?:^|,)\s*(\d{3}) [^\s"]+ "((?:[^"\\]|\\.)*)"/g
/** "Miscellaneous persistent warning", the only code of API servers. Other codes come from caches and proxies. */
const serverCode = '299'

/** The texts of the warnings in `Warning` headers, which Node joins by commas. Leaves out malformed ones. */
export function warningTexts(header: unknown): readonly string[] {
  if (typeof header !== 'string') return []
  return Array.from(header.matchAll(warning), ([, code, quoted = '']) =>
    code === serverCode ? quoted.replaceAll(/\\(.)/g, '$1').slice(0, maxTextLength) : '',
  ).filter((text) => text !== '')
}
