import { hashOf } from './discovery.ts'
import type { ResourceRegistry } from './resource-registry.ts'

/** A document as it is sent. */
export interface OpenApiText {
  readonly text: string
  readonly hash: string
}

/** The OpenAPI v3 documents of a registry, written once for each state of it. */
export class OpenApi {
  readonly #registry: ResourceRegistry
  readonly #texts = new Map<string, OpenApiText>()
  #generation = 0

  constructor(registry: ResourceRegistry) {
    this.#registry = registry
  }

  /** `/openapi/v3`. */
  index(): object {
    const { captured, custom } = this.#registry
    const paths = [
      ...Object.keys(captured.openapi),
      ...[...custom.keys()].map((key) => `apis/${key}`),
    ]
    return {
      paths: Object.fromEntries(
        paths.map((path) => [
          path,
          { serverRelativeURL: `/openapi/v3/${path}?hash=${this.document(path)?.hash ?? ''}` },
        ]),
      ),
    }
  }

  /** `/openapi/v3/PATH`; `undefined` where there is no such document. */
  document(path: string): OpenApiText | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#generation = this.#registry.generation
      this.#texts.clear()
    }
    const known = this.#texts.get(path)
    if (known !== undefined) return known
    const { captured, custom } = this.#registry
    const document = captured.openapi[path] ?? custom.get(path.replace(/^apis\//, ''))?.openapi()
    if (document === undefined) return undefined
    const text = JSON.stringify(document)
    const made = { text, hash: hashOf(text) }
    this.#texts.set(path, made)
    return made
  }
}
