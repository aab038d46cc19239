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

/** An object's name and, if its resource is namespaced, its namespace. An object's `metadata` fits. */
export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/** The options of one request. */
export interface ReadOptions {
  readonly signal?: AbortSignal
  /** For the whole exchange; default: the connection's `requestDeadlineMs`. */
  readonly deadlineMs?: number
}

/** Conditions for a write. If one fails, the write is refused as a conflict (`isConflict`). */
export interface Preconditions {
  /** The same object, not another one with its name. */
  readonly uid?: string
  /** The same state. */
  readonly resourceVersion?: string
}

export interface WriteOptions extends ReadOptions {
  /** The owner of the fields that are set; default: the client's. */
  readonly fieldManager?: string
  /** Stores nothing; the response shows what would be stored. */
  readonly dryRun?: boolean
  /** The treatment of fields that the schema does not know; the server's default is `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

export interface ChangeOptions extends WriteOptions {
  readonly preconditions?: Preconditions
}

export interface ApplyOptions extends ChangeOptions {
  /** Takes over fields of other owners, which are a conflict otherwise. */
  readonly force?: boolean
}

export interface DeleteOptions extends ReadOptions {
  readonly preconditions?: Preconditions
  readonly dryRun?: boolean
  /** The treatment of dependent objects; default: the resource's. */
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

export function writeQuery(options: ApplyOptions): URLSearchParams {
  const query = new URLSearchParams()
  const { dryRun, fieldManager, fieldValidation, force } = options
  if (dryRun === true) query.set('dryRun', 'All')
  if (fieldManager !== undefined) query.set('fieldManager', fieldManager)
  if (fieldValidation !== undefined) query.set('fieldValidation', fieldValidation)
  if (force === true) query.set('force', 'true')
  return query
}

/** Throws `InvalidOptionError` without a field manager, since an apply needs an owner of its fields. */
export function requireFieldManager(fieldManager: string | undefined): string {
  if (fieldManager !== undefined && fieldManager !== '') return fieldManager
  throw new InvalidOptionError(
    'fieldManager',
    fieldManager,
    'a name for the owner of the fields, to the client or to the call',
  )
}
