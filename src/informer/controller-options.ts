import { requireResource } from '../kubernetes/api-resource.ts'
import {
  aFlag,
  aFunction,
  aLimit,
  anObject,
  checkedOptions,
  type OptionChecks,
} from '../lib/options.ts'
import type { ControllerOptions } from './controller.ts'
import { reflectorChecks } from './reflector/reflector-options.ts'
import { sourceOf, type SourceOptions } from './source.ts'

/** What an informer or a controller of one's own is made from, as callers write it. */
export interface CacheOptions
  extends SourceOptions, Omit<ControllerOptions, 'resource' | 'source'> {}

export const cacheChecks: OptionChecks<CacheOptions> = {
  ...reflectorChecks,
  resource: requireResource,
  apiServer: anObject,
  source: anObject,
  metadataOnly: aFlag,
  tweakListOptions: aFunction,
  observer: anObject,
  queueLimit: aLimit(1),
}

/** The options as the controller takes them. Throws `InvalidOptionError` and `SourceMismatchError`. */
export function controllerOptionsOf<T extends CacheOptions>(
  of: string,
  given: T,
  checks: OptionChecks<T>,
): T & ControllerOptions {
  const options = checkedOptions(of, given, checks)
  requireResource('resource', options.resource)
  return { ...options, source: sourceOf(options) }
}
