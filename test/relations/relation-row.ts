import type { Written } from './relation-cluster.ts'

/** Objects, and where relations lead from them. */
export interface RelationRow {
  /** Which rows of the table it shows, and how. */
  readonly row: string
  /** All of one namespace, as far as they have one. */
  readonly objects: readonly Written[]
  /** By look-up, name and fields: the names that are found, sorted; one for a field that leads to one object. */
  readonly expected: Readonly<Record<string, readonly string[] | string | null>>
}
