import { consequenceWords } from './consequence-words.ts'

const pods = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'pod' : 'pods'}`

/** The texts of actions: their menu, their dialog, and what becomes of them. */
export const actionWords = {
  title: 'Actions',
  key: 'Show the actions',
  asking: 'Asking what you may do',
  failed: (why: string): string => `What can be done is not known: ${why}`,
  mayNot: (what: string): string => `You may not ${what}.`,
  rights: {
    patch: 'change it',
    scale: 'scale it',
    evict: 'evict it',
    delete: 'delete it',
    run: 'create Jobs here',
    drain: 'evict the pods of all namespaces',
  },
  paused: 'Its rollout is paused: resume it first.',
  /** For each action: its name in the menu, what it does, its button, and what is said when it is done. */
  of: {
    restart: {
      label: 'Restart',
      does: 'Replaces its pods step by step by new ones of the same kind.',
      confirm: 'Restart',
      done: 'The restart has begun.',
    },
    scale: {
      label: 'Scale',
      does: 'Sets how many pods it has.',
      confirm: 'Scale',
      done: 'The number is set.',
    },
    setImage: {
      label: 'Set image',
      does: 'Sets the image of a container. Its pods are replaced step by step.',
      confirm: 'Set image',
      done: 'The image is set.',
    },
    rollBack: {
      label: 'Roll back',
      does: 'Gives it the pod template of an earlier revision. Its pods are replaced step by step.',
      confirm: 'Roll back',
      done: 'The rollout of the earlier revision has begun.',
    },
    pauseRollout: {
      label: 'Pause the rollout',
      does: 'Later changes of its pod template wait until the rollout is resumed. Its pods stay.',
      confirm: 'Pause',
      done: 'The rollout is paused.',
    },
    resumeRollout: {
      label: 'Resume the rollout',
      does: 'Rolls out the changes that have waited.',
      confirm: 'Resume',
      done: 'The rollout goes on.',
    },
    suspend: {
      label: 'Suspend',
      does: 'Starts nothing more until it is resumed.',
      confirm: 'Suspend',
      done: 'It is suspended.',
    },
    resume: {
      label: 'Resume',
      does: 'Starts its work again.',
      confirm: 'Resume',
      done: 'It is resumed.',
    },
    runNow: {
      label: 'Run now',
      does: 'Creates a Job of its template at once, also while it is suspended.',
      confirm: 'Run',
      done: 'The Job is created.',
    },
    cordon: {
      label: 'Cordon',
      does: 'No further pods are put on this node. Those that run stay.',
      confirm: 'Cordon',
      done: 'The node takes no further pods.',
    },
    uncordon: {
      label: 'Uncordon',
      does: 'Pods can be put on this node again.',
      confirm: 'Uncordon',
      done: 'The node takes pods again.',
    },
    drain: {
      label: 'Drain',
      does: 'Cordons the node and evicts its pods, as far as their PodDisruptionBudgets allow.',
      confirm: 'Drain',
      done: 'The node is drained.',
    },
    evict: {
      label: 'Evict',
      does: 'Ends the pod unless a PodDisruptionBudget forbids that now.',
      confirm: 'Evict',
      done: 'The pod is evicted.',
    },
    label: {
      label: 'Set a label',
      does: 'Sets or removes one label. Selectors of Services and policies read labels.',
      confirm: 'Set the label',
      done: 'The label is set.',
    },
    annotate: {
      label: 'Set an annotation',
      does: 'Sets or removes one annotation.',
      confirm: 'Set the annotation',
      done: 'The annotation is set.',
    },
    delete: {
      label: 'Delete',
      does: 'Deletes the object. This cannot be undone.',
      confirm: 'Delete',
      done: 'It is deleted.',
    },
  },
  /** What a suspension does about what runs, by kind. */
  suspends: {
    CronJob: 'Its Jobs that run go on.',
    Job: 'Its running pods end.',
  } as Readonly<Record<string, string>>,
  on: (label: string, kind: string, name: string): string => `${label}: ${kind} ${name}`,
  cancel: 'Cancel',
  close: 'Close',
  /** A Job counts the pod as failed. */
  remade: ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
    kind === 'Job'
      ? `${kind} ${name} makes a new one in its place, unless it has failed too often.`
      : `${kind} ${name} makes a new one in its place.`,
  consequences: consequenceWords,
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
  preview: {
    title: 'What changes',
    asking: 'The API server tries it without storing anything…',
    incomplete: 'Fill in what is asked for to see what changes.',
    removed: 'The object is removed.',
    created: (kind: string): string => `A new ${kind} is created.`,
    more: (count: number): string => `Show ${count.toLocaleString('en')} more fields`,
    warnings: 'The API server warns',
  },
  writing: 'Writing…',
  behind: 'The gateway has not seen it yet; lists follow in a moment.',
  look: 'Look again',
  takeOver: 'Take over these fields',
  failure: {
    title: 'It was refused.',
    CONFLICT: 'Others have set these fields.',
    conflictNext: 'Leave the fields to them, or take them over: then they are no longer theirs.',
    conflict: (manager: string, fields: readonly string[]): string =>
      `${manager} has set ${fields.join(', ')}`,
    INVALID: 'The API server does not accept it.',
    FORBIDDEN: (verb: string, resource: string): string => `You may not ${verb} ${resource}.`,
    uid: 'It has been made anew since: another object has its name now.',
    uidNext: 'Nothing was written. Close this, and open the new one.',
    resourceVersion: 'It has changed since you looked at it.',
    resourceVersionNext: 'Nothing was written. Look at what changes now.',
    admission: {
      POLICY: (name: string): string => `The policy ${name} does not allow it.`,
      WEBHOOK: (name: string): string => `The webhook ${name} does not allow it.`,
      PLUGIN: 'An admission plugin of the API server does not allow it.',
    },
    DISRUPTION_BUDGET: 'A PodDisruptionBudget forbids it now.',
    OUTCOME_UNKNOWN: 'It may have been done.',
    outcomeNext: 'There was no answer. Look at the object before you try again.',
  },
  drain: {
    title: 'Progress',
    pods: 'The pods of the node',
    force: 'Evict pods without a controller, too: nothing starts them again',
    deleteEmptyDirData: 'Evict pods with data in an emptyDir, too: the data is lost',
    refused: 'Nothing is done before you accept what is lost:',
    loses: {
      POD: (count: number): string =>
        `${pods(count)} without a controller: nothing starts ${count === 1 ? 'it' : 'them'} again.`,
      EMPTY_DIR_DATA: (count: number): string =>
        `The data in the emptyDir volumes of ${pods(count)}.`,
    },
    remade: 'The pods themselves start again on other nodes.',
    losesNothing: 'No data is lost, and the pods start again on other nodes.',
    would: (count: number): string =>
      count === 0 ? 'No pod has to go.' : `${pods(count)} ${count === 1 ? 'has' : 'have'} to go.`,
    wouldBe: {
      PENDING: 'is evicted',
      BLOCKED: 'waits for its budget',
      TERMINATING: 'is evicted',
      GONE: 'is evicted',
      SKIPPED: 'stays',
      REFUSED: 'stays until you accept the loss',
      FAILED: 'cannot be evicted now',
    },
    is: {
      PENDING: 'waits for its turn',
      BLOCKED: 'waits for its budget',
      TERMINATING: 'is ending',
      GONE: 'is gone',
      SKIPPED: 'stays',
      REFUSED: 'stays',
      FAILED: 'could not be evicted',
    },
    states: {
      EVICTING: 'Pods are being evicted.',
      DONE: 'The node is drained. It takes no further pods until you uncordon it.',
      REFUSED: 'Nothing was done.',
      FAILED: 'Some pods are left.',
    },
    cut: 'The connection to the gateway is lost: this is as last known, and the drain stops there. It goes on when the gateway can be reached again.',
    stopped: 'The drain was stopped. Evicted pods stay evicted, and the node stays cordoned.',
    gone: (gone: number, total: number): string => `${gone} of ${pods(total)} gone`,
    goesOn:
      'You may close this: the drain goes on while the page is open, and “Drain” shows it again. It stops when you leave the page; the node then stays cordoned.',
    stop: 'Stop',
  },
  inputs: {
    replicas: 'Replicas',
    container: 'Container',
    image: 'Image',
    key: 'Key',
    value: 'Value',
    remove: 'Remove it',
    revision: 'Revision',
    revisions: {
      asking: 'Reading the revisions…',
      failed: (why: string): string => `The revisions cannot be read: ${why}`,
      none: 'It has no earlier revision.',
      one: (number: number): string => `Revision ${number}`,
      current: 'current',
    },
    propagation: 'What it owns',
    propagations: {
      BACKGROUND: 'is deleted after it',
      FOREGROUND: 'is deleted before it',
      ORPHAN: 'stays, without an owner',
    },
    confirmName: (name: string): string => `Type ${name} to confirm`,
  },
} as const
