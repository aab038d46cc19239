const fields = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'field' : 'fields'}`

/** The texts of editing an object as YAML. */
export const editWords = {
  edit: 'Edit',
  label: 'The object as YAML, to edit',
  hint: 'Ctrl+Enter reviews. Status, managed fields and what the API server sets itself are left out.',
  review: 'Review the changes',
  trying: 'The API server tries it without storing anything…',
  cancel: 'Cancel',
  discard: 'Discard your changes?',
  kept: 'These are your changes from before. They are kept in this tab until you apply or discard them.',
  problem: (message: string, line: number | undefined): string =>
    line === undefined ? message : `Line ${line}: ${message}`,
  several: 'This is one object: a second document has no place here.',
  empty: 'This is no object.',
  identity: (field: string): string =>
    `${field} cannot be changed here: it would be another object.`,
  same: 'The text says what the object is already. There is nothing to review.',
  reviewed: 'What changes',
  staying: 'These fields stay, although the text leaves them out: other managers have set them.',
  remove: 'Remove them all the same',
  apply: 'Apply',
  applying: 'Applying…',
  back: 'Back to the text',
  applied: (count: number): string => `Applied: ${fields(count)} changed.`,
  behind: 'The gateway has not seen it yet; the object follows in a moment.',
  takesOver: 'Fields of other managers are taken over.',
  meanwhile: (count: number): string => `The object has changed since you began: ${fields(count)}.`,
  both: (names: readonly string[]): string =>
    `Your text changes ${names.join(', ')} as well, and wins there.`,
  showMeanwhile: 'Show what has changed',
  rebase: 'Take it into the text',
  moved:
    'The object has changed since the review, and nothing was written. This is what changes now.',
  line: (line: number): string => `Go to line ${line}`,
} as const
