const count = (number: number): string => number.toLocaleString('en')

/** The texts of exports. */
export const exportWords = {
  as: { csv: 'CSV', yaml: 'YAML', json: 'JSON' },
  item: (form: string, objects: number | undefined, isSelection: boolean): string =>
    objects === undefined
      ? `Export as ${form}`
      : `Export ${count(objects)}${isSelection ? ' selected' : ''} as ${form}`,
  copyKubectl: 'Copy as kubectl',
  reading: (read: number, all: number): string => `Exporting ${count(read)} of ${count(all)}`,
  stop: 'Stop the export',
  done: (objects: number): string => `${count(objects)} exported.`,
  gone: (objects: number): string =>
    `${count(objects)} ${objects === 1 ? 'was' : 'were'} gone meanwhile.`,
  cut: (most: number): string => `Only the first ${count(most)} are exported.`,
  failed: (why: string): string => `The export has failed: ${why}`,
  dismiss: 'Dismiss',
  /** The heading of the times beside a number, such as `Restarts`. */
  lastOf: (title: string): string => `${title} (last)`,
  notInKubectl: (what: string): string => `kubectl cannot do: ${what}`,
  order: (sort: string): string => `order by ${sort}`,
} as const
