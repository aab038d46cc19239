/*
 * The options of reads and writes of single objects, with their checks. Each kind of request adds its own to those of a read.
 */

import {
  aDuration,
  aFlag,
  aLimit,
  anObject,
  aString,
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
  /** The deadline of the whole exchange; default: the connection's `requestDeadlineMs`. */
  readonly deadlineMs?: number
}

/** Conditions for a write. If one fails, the write is refused as a conflict (`isConflict`). */
export interface Preconditions {
  /** The object must have this UID, and not be another one with the same name. */
  readonly uid?: string
  /** The object must be in this state. */
  readonly resourceVersion?: string
}

/** Options of a write. */
export interface WriteOptions extends ReadOptions {
  /** The owner of the written fields; default: the client's. */
  readonly fieldManager?: string
  /** Stores nothing; the response shows what would be stored. */
  readonly dryRun?: boolean
  /** The treatment of fields that the schema does not know; the server's default is `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
}

/** Options of a write to an existing object. */
export interface ChangeOptions extends WriteOptions {
  readonly preconditions?: Preconditions
}

/** Options of a server-side apply. */
export interface ApplyOptions extends ChangeOptions {
  /** Takes over fields of other owners. Without it, such fields are a conflict. */
  readonly force?: boolean
}

/** Options of a deletion. */
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
