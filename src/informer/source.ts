import { type ApiResource, groupResourceOf, isSameResource } from '../kubernetes/api-resource.ts'
import { CodedError } from '../lib/coded-error.ts'
import { InvalidOptionError } from '../lib/options.ts'
import type { ListerWatcher } from './reflector/lister-watcher.ts'

/** A source of the objects of any resource: an `ApiServer`. */
export interface SourceOfResources {
  resource(resource: ApiResource, options: { readonly metadataOnly?: boolean }): ListerWatcher
}

/** The resource of an informer and the source of its objects: give either `apiServer` or `source`. */
export interface SourceOptions {
  readonly resource: ApiResource
  readonly apiServer?: SourceOfResources
  /** A custom source. */
  readonly source?: ListerWatcher
  /** Requests only the metadata of objects: no other field enters the process. */
  readonly metadataOnly?: boolean
}

/** The source is of another resource than the informer, or has only metadata where whole objects are needed. */
export class SourceMismatchError extends CodedError {
  constructor(message: string, source: ListerWatcher) {
    super('SOURCE_MISMATCH', message, {
      value: source,
      hint: 'give the informer apiServer instead of source: then the resource is named once',
    })
  }
}

/** The source that the options name. Throws {@link SourceMismatchError} and `InvalidOptionError`. */
export function sourceOf(options: SourceOptions): ListerWatcher {
  const { apiServer, metadataOnly = false, resource, source } = options
  if ((apiServer === undefined) === (source === undefined)) {
    const given = source === undefined ? 'missing' : 'given beside apiServer'
    throw new InvalidOptionError('source', given, 'either apiServer or source')
  }
  if (source === undefined) {
    if (apiServer !== undefined) return apiServer.resource(resource, { metadataOnly })
    throw new InvalidOptionError('source', source, 'either apiServer or source')
  }
  if (source.resource !== undefined && !isSameResource(source.resource, resource)) {
    throw new SourceMismatchError(
      `the informer is of ${named(resource)}, its source of ${named(source.resource)}`,
      source,
    )
  }
  if (source.metadataOnly !== undefined && source.metadataOnly !== metadataOnly) {
    throw new SourceMismatchError(
      metadataOnly
        ? `the informer of ${named(resource)} is of metadata only, its source gives whole objects`
        : `the source of ${named(resource)} gives metadata only, the informer wants whole objects`,
      source,
    )
  }
  return source
}

function named(resource: ApiResource): string {
  return `${groupResourceOf(resource)} ${resource.version} (${resource.kind})`
}
