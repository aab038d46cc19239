const counted = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`

const documents = (count: number): string => counted(count, 'document', 'documents')

/** The texts of creating and applying objects. Only this room has them: the page loads it when it is opened. */
export const createWords = {
  label: 'Manifests as YAML',
  hint: 'Type, paste or drop YAML or JSON: one or several documents. Ctrl+Space completes, Ctrl+Enter reviews.',
  noWrites: 'This gateway takes no writes.',
  noWritesNext: 'Its operator can allow them: docs/writes.md.',
  template: 'Template',
  templates: 'Templates',
  file: 'File…',
  files: 'Choose files',
  drop: 'Drop the files to add their text.',
  namespace: 'Namespace',
  namespaceHint: 'Of documents that name none',
  clusters: 'Clusters',
  chooseClusters: 'Choose clusters',
  findCluster: 'Find a cluster',
  noCluster: (text: string): string => `No cluster has “${text}” in its name.`,
  someClusters: (count: number): string => counted(count, 'cluster', 'clusters'),
  clear: 'Clear',
  cleared: 'The text is cleared.',
  bringBack: 'Bring it back',
  kept: 'This is your text from before. It is kept in this tab until it is applied or cleared.',
  counted: (count: number): string => documents(count),
  review: 'Review',
  chooseFirst: 'Choose a cluster to review',
  noneChosen: 'The view is of several clusters. Choose those that get the objects.',
  trying: (done: number, all: number): string =>
    `The API server tries ${documents(all)} without storing anything: ${done.toLocaleString('en')} done…`,
  outcome: 'Outcome',
  reviewed: (where: string): string => `What would happen in ${where}`,
  applying: (where: string): string => `What happens in ${where}`,
  over: (where: string): string => `What happened in ${where}`,
  /** Clusters, and the namespace if all objects are in one. */
  where: (clusters: readonly string[], namespace: string | undefined): string =>
    `${clusters.length > 2 ? counted(clusters.length, 'cluster', 'clusters') : clusters.join(' and ')}${
      namespace === undefined ? '' : `, namespace ${namespace}`
    }`,
  checks: 'What the text says',
  checksNext:
    'By the kinds, their schema and the namespaces that you may see. The API server has the last word: review all the same.',
  line: (line: number): string => `Line ${line.toLocaleString('en')}`,
  empty: 'There is no document yet. Type one, paste one, or begin with a template.',
  noObject: 'This is no object.',
  several: 'This is more than one object.',
  lacks: (fields: readonly string[]): string => `The document has no ${fields.join(', no ')}.`,
  tooLong: 'The text has more than 5 million characters. Apply it in parts.',
  documentTooLong:
    'This document has more than a million characters. API servers store none so large.',
  tooMany: (most: number): string =>
    `At most ${documents(most)} at once, counted in each cluster. Apply them in parts.`,
  notRead: (name: string): string => `The file ${name} has more than 5 million characters.`,
  required: 'required',
  check: {
    required: 'it is required',
    unknown: 'there is no such field',
    type: (type: string): string => `it takes ${type}`,
    unserved: (
      cluster: string | undefined,
      kind: string,
      apiVersion: string,
      others: readonly string[],
    ): string =>
      `${cluster ?? 'the cluster'} serves no ${kind} of ${apiVersion}. ${
        others.length === 0
          ? 'Correct it, or add its CustomResourceDefinition before it.'
          : `It serves ${kind} of ${others.join(' and ')}.`
      }`,
    noNamespace: (namespace: string): string =>
      `you see no namespace “${namespace}”. Correct it, or add a Namespace before it.`,
    values: (values: readonly string[]): string => `it is one of ${values.join(', ')}`,
    list: 'a list',
    map: 'an object',
    types: {
      string: 'a text: numbers and true or false need quotes',
      Time: 'a time as text',
      boolean: 'true or false',
      integer: 'a whole number',
      number: 'a number',
      IntOrString: 'a whole number or a text',
      Quantity: 'a quantity, such as 500m or 2Gi',
    } as Readonly<Record<string, string>>,
  },
  outcomes: {
    waiting: 'Waits',
    trying: 'Is tried',
    created: 'Would be created',
    changed: (count: number): string => `${counted(count, 'field', 'fields')} would change`,
    same: 'Nothing would change',
    later: (needs: string): string => `Is tried after ${needs}, which an earlier document makes`,
    refused: 'Refused',
    applying: 'Is applied',
    isCreated: 'Created',
    isChanged: (count: number): string => `${counted(count, 'field', 'fields')} changed`,
    isSame: 'Nothing changed',
    failed: 'Not applied',
    unknown: 'Unknown: it may have been applied',
    left: 'Not begun',
  },
  summary: {
    created: (count: number): string => `${documents(count)} would be created`,
    changed: (count: number): string => `${count.toLocaleString('en')} changed`,
    same: (count: number): string => `${count.toLocaleString('en')} the same`,
    later: (count: number): string => `${count.toLocaleString('en')} tried later`,
    refused: (count: number): string => `${count.toLocaleString('en')} refused`,
    applied: (count: number, all: number): string =>
      `${count.toLocaleString('en')} of ${documents(all)} applied`,
    failed: (count: number): string => `${count.toLocaleString('en')} not applied`,
    unknown: (count: number): string =>
      `of ${count.toLocaleString('en')} it is not known: there was no answer`,
    left: (count: number): string => `${count.toLocaleString('en')} not begun`,
  },
  apply: (verb: 'Create' | 'Change' | 'Apply', count: number, where: string): string =>
    `${verb} ${counted(count, 'object', 'objects')} in ${where}`,
  applyRest: (count: number, where: string): string =>
    `Apply the other ${count.toLocaleString('en')} in ${where}`,
  progress: 'Progress',
  stop: 'Stop',
  leave: 'Documents are being applied. Leave all the same? Those that wait are not begun.',
  unknownNext:
    'Applying a document again does no harm: it is the same then. Look first where the API server finds the name.',
  back: 'Back to the text',
  takesOver: 'Fields of other managers are taken over.',
} as const
