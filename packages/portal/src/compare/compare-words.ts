const counted = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`

/** The texts of comparing two objects. Only this room has them: the page loads it when it is opened. */
export const compareWords = {
  title: 'Compare',
  of: (kind: string, name: string): string => `Compare ${kind} ${name}`,
  choose: 'Compare with',
  find: 'Name contains',
  choices: 'Objects to compare with',
  noChoice: (kind: string): string => `There is no other ${kind} of this name.`,
  more: (shown: number, all: number): string =>
    `${shown} of ${all.toLocaleString('en')}: type more of the name.`,
  what: 'objects',
  other: 'Choose another',
  swap: 'Swap the sides',
  missing: (name: string): string => `There is no ${name}, or you may not see it.`,
  unnamed: 'such object',
  nothing: 'Nothing to compare: the address names no object.',
  nothingNext: 'Open an object, and choose “Compare” there.',
  count: (count: number): string =>
    count === 0
      ? 'They are the same in what people write.'
      : `${counted(count, 'field differs', 'fields differ')}.`,
  leftOut:
    'Left out: names, status, managed fields, versions, and what the cluster assigns, such as addresses and nodes.',
  left: 'Left:',
  right: 'Right:',
  deleted: 'This one was deleted; this is its last state.',
  yaml: 'As YAML',
  fields: 'By field',
  groups: {
    image: 'Images',
    replicas: 'Replicas',
    env: 'Environment',
    resources: 'Resources',
    other: 'Other fields',
    metadata: 'Labels and annotations',
  },
} as const
