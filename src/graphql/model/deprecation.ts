import type { OpenApiSchema } from '../../kubernetes/open-api.ts'

/** As Go's comments have it, which become descriptions: a paragraph or sentence that begins with the word. */
const sentence = /(?:^|[.)]\s+|\n\s*)Deprecated: +(\S[\s\S]*)/

/** Why a schema should not be used any more; `undefined` where nothing says so. */
export function deprecationOf(schema: OpenApiSchema | undefined): string | undefined {
  const said = sentence.exec(schema?.description ?? '')?.[1]?.trim()
  return said ?? (schema?.deprecated === true ? 'Deprecated.' : undefined)
}
