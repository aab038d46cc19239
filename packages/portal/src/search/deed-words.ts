import type { ActionName } from '../actions/action-list.ts'

/** Other words for actions than their labels, as people and kubectl say them. */
export const otherActionWords: Readonly<Partial<Record<ActionName, readonly string[]>>> = {
  restart: ['rollout restart', 'reboot'],
  setImage: ['image'],
  rollBack: ['rollback', 'rollout undo', 'undo'],
  pauseRollout: ['pause'],
  resumeRollout: ['resume'],
  suspend: ['stop'],
  runNow: ['trigger'],
  label: ['label'],
  annotate: ['annotate'],
  delete: ['remove'],
}

/** What a page of an object shows in a tab of its own. */
export const tabDeeds = {
  logs: { label: 'Logs', also: ['tail'] },
  shell: { label: 'Shell', also: ['exec', 'terminal'] },
  yaml: { label: 'YAML', also: ['manifest'] },
  edit: { label: 'Edit', also: ['change'] },
} as const

/** After an action that names nothing yet. */
export const typeName = (label: string): string => `type a name: ${label.toLowerCase()} NAME`
