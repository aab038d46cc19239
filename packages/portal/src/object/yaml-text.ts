import { stringify } from 'yaml'

/**
 * An object as `kubectl get -o yaml` writes it: members in the order of their names, lists at the column of their name, and no
 * text that YAML 1.1 would read as something else without its quotes.
 */
export function yamlOf(json: unknown): string {
  return stringify(json, {
    version: '1.1',
    sortMapEntries: true,
    indentSeq: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  })
}
