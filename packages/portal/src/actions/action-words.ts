/** The texts of what changes objects. */
export const actionWords = {
  changes: {
    title: 'What changes',
    none: 'Nothing changes.',
    before: 'Before:',
    after: 'After:',
    nothing: 'nothing',
    whole: 'the whole object',
    masked: 'The values are withheld.',
    manager: (name: string): string => `set by ${name}`,
  },
}
