/*
 * What CustomResourceDefinitions say besides their schemas, which come from OpenAPI: printer columns, selectable fields,
 * categories and deprecation, for each served version. Malformed parts are left out.
 */

import { isRecord } from '../../lib/json.ts'

export interface PrinterColumn {
  readonly name: string
  /** `string`, `integer`, `number`, `boolean`, `date`. */
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly priority?: number
}

/** One version of a CRD's kind, without the schema, which OpenAPI has. */
export interface CustomResourceVersion {
  readonly printerColumns: readonly PrinterColumn[]
  /** The kind's categories: `all`, `managed`. */
  readonly categories: readonly string[]
  readonly definition: string
  /** JSONPaths of the fields that field selectors may name. */
  readonly selectableFields: readonly string[]
  /** Why the version is deprecated; absent if it is not. */
  readonly deprecation?: string
}

type Json = Readonly<Record<string, unknown>>

/** The versions of CRDs, as the API server lists them, by `group/version/kind`. Malformed parts are left out. */
export function customResourceVersions(
  definitions: readonly unknown[],
): ReadonlyMap<string, CustomResourceVersion> {
  const versions = new Map<string, CustomResourceVersion>()
  for (const definition of definitions) {
    const spec = recordOf(recordOf(definition)['spec'])
    const { group } = spec
    const { kind, plural, categories } = recordOf(spec['names'])
    for (const version of listOf(spec['versions'])) {
      const { name, served, deprecationWarning } = version
      const warning = typeof deprecationWarning === 'string' ? deprecationWarning : ''
      if (typeof group !== 'string' || typeof kind !== 'string' || typeof name !== 'string')
        continue
      const apiVersion = `${group}/${name}`
      // Several clusters may have the CRD. The first one wins.
      if (served === false || versions.has(`${apiVersion}/${kind}`)) continue
      versions.set(`${apiVersion}/${kind}`, {
        categories: Array.isArray(categories)
          ? categories.filter((category) => typeof category === 'string')
          : [],
        definition: `${String(plural)}.${group}`,
        printerColumns: listOf(version['additionalPrinterColumns']).flatMap(printerColumn),
        selectableFields: listOf(version['selectableFields']).flatMap(({ jsonPath }) =>
          typeof jsonPath === 'string' ? [jsonPath] : [],
        ),
        ...(version['deprecated'] === true
          ? { deprecation: warning || `${apiVersion} ${kind} is deprecated` }
          : {}),
      })
    }
  }
  return versions
}

function printerColumn({ name, type, jsonPath, format, priority }: Json): readonly PrinterColumn[] {
  const isWhole =
    typeof name === 'string' && typeof type === 'string' && typeof jsonPath === 'string'
  if (!isWhole) return []
  return [
    {
      name,
      type,
      jsonPath,
      ...(typeof format === 'string' ? { format } : {}),
      ...(typeof priority === 'number' ? { priority } : {}),
    },
  ]
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}
