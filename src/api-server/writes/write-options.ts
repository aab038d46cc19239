import {
  aDuration,
  aFlag,
  aLimit,
  anObject,
  aString,
  InvalidOptionError,
  oneOf,
  type OptionChecks,
  optionsOf,
} from '../../lib/options.ts'

/** Which object: its name, and where its resource is namespaced its namespace. An object's `metadata` is one. */
export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/** Of one request. */
export interface ReadOptions {
  readonly signal?: AbortSignal
  /** For the whole exchange; the connection's `requestDeadlineMs` unless given. */
  readonly deadlineMs?: number
}

/** What the object must still be for a write to happen; else it is refused as a conflict (`isConflict`). */
export interface Preconditions {
  /** The very object, not another one of its name. */
  readonly uid?: string
  /** The very state. */
  readonly resourceVersion?: string
}

/** How an object is written. */
export interface WriteOptions extends ReadOptions {
  /** Who owns the fields that are set; the client's unless given. */
  readonly fieldManager?: string
  /** Nothing is stored: the answer is what it would be. */
  readonly dryRun?: boolean
  /** What becomes of fields that the resource's schema does not know; the server's default is `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

/** How an object is written that is there already. */
export interface ChangeOptions extends WriteOptions {
  readonly preconditions?: Preconditions
}

/** How a configuration is applied. */
export interface ApplyOptions extends ChangeOptions {
  /** Takes over fields that others own; without it such fields are a conflict. */
  readonly force?: boolean
}

/** How an object is deleted. */
export interface DeleteOptions extends ReadOptions {
  readonly preconditions?: Preconditions
  readonly dryRun?: boolean
  /** What becomes of what it owns; the resource's default unless given. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

export const readChecks: OptionChecks<ReadOptions> = { signal: anObject, deadlineMs: aDuration }

const preconditions = optionsOf<Preconditions>({ uid: aString, resourceVersion: aString })

export const applyChecks: OptionChecks<ApplyOptions> = {
  ...readChecks,
  fieldManager: aString,
  dryRun: aFlag,
  fieldValidation: oneOf('Ignore', 'Warn', 'Strict'),
  preconditions,
  force: aFlag,
}

export const deleteChecks: OptionChecks<DeleteOptions> = {
  ...readChecks,
  preconditions,
  dryRun: aFlag,
  propagationPolicy: oneOf('Background', 'Foreground', 'Orphan'),
  gracePeriodSeconds: aLimit(),
}

/** The query of a write. */
export function writeQuery(options: ApplyOptions): URLSearchParams {
  const query = new URLSearchParams()
  const { dryRun, fieldManager, fieldValidation, force } = options
  if (dryRun === true) query.set('dryRun', 'All')
  if (fieldManager !== undefined) query.set('fieldManager', fieldManager)
  if (fieldValidation !== undefined) query.set('fieldValidation', fieldValidation)
  if (force === true) query.set('force', 'true')
  return query
}

/** Throws `InvalidOptionError`: an apply without an owner of its fields means nothing. */
export function requireFieldManager(fieldManager: string | undefined): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager
  throw new InvalidOptionError(
    'fieldManager',
    fieldManager,
    'the name of whoever applies, to the client or to the call',
  )
}
