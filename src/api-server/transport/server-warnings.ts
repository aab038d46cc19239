/** What is told of a connection. Every method is optional and must not throw. */
export interface ApiServerObserver {
  /** The API server warns beside an answer, such as of a deprecated version or an unknown field. Each text is told once. */
  warned?(text: string): void
}

/** So many texts are remembered; beyond, they are told again. */
const maxTexts = 1_000
/** RFC 9111, 5.5: `299 - "text"`, several of them with commas between. */
const warning = /\d{3} \S+ "((?:[^"\\]|\\.)*)"/g

/** The `Warning` headers of one server (client-go's `rest.WarningHandler`). Without an observer, they are warnings of the process. */
export class ServerWarnings {
  readonly #server: string
  readonly #observer: ApiServerObserver | undefined
  readonly #told = new Set<string>()

  constructor(server: string, observer: ApiServerObserver | undefined) {
    this.#server = server
    this.#observer = observer
  }

  /** `header`: all of them, with commas between, as Node has them. */
  heard(header: unknown): void {
    if (typeof header !== 'string') return
    for (const [, quoted = ''] of header.matchAll(warning)) {
      const text = quoted.replaceAll(/\\(.)/g, '$1')
      if (this.#told.has(text)) continue
      if (this.#told.size >= maxTexts) this.#told.clear()
      this.#told.add(text)
      if (this.#observer === undefined) {
        process.emitWarning(`${this.#server}: ${text}`, { type: 'ApiServerWarning' })
      } else {
        this.#observer.warned?.(text)
      }
    }
  }
}
