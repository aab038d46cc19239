import type { ApiResource } from '../../kubernetes/api-resource.ts'
import { apiVersionOf, groupResourceOf } from '../../kubernetes/api-resource.ts'
import { CodedError } from '../../lib/coded-error.ts'

/** What an error is about: `pods`, or `pods default/web-1`. */
function subject(resource: ApiResource, key: string | undefined): string {
  const name = groupResourceOf(resource)
  return key === undefined ? name : `${name} ${key}`
}

/** The `apiVersion` or `kind` of an object is not that of its resource. `key` is `namespace/name`, if known. */
export class WrongKindError extends CodedError {
  readonly key: string | undefined
  /** Whether the kinds differ only in case: then the resource is misspelt, not the object. */
  readonly isCase: boolean

  constructor(
    resource: ApiResource,
    found: { readonly apiVersion: unknown; readonly kind: unknown },
    key: string | undefined,
  ) {
    const text = JSON.stringify([found.apiVersion, found.kind])
    super(
      'WRONG_KIND',
      `${subject(resource, key)}: expected ${apiVersionOf(resource)} ${resource.kind}, found ${text}`,
      { value: found, hint: 'the object was dropped; check what answers for this resource' },
    )
    this.key = key
    this.isCase =
      found.apiVersion === apiVersionOf(resource) &&
      String(found.kind).toLowerCase() === resource.kind.toLowerCase()
  }
}

/**
 * An object lacks `metadata` or `metadata.name`, or its namespace is not a string; or a bookmark lacks its resource
 * version.
 */
export class MissingMetadataError extends CodedError {
  constructor(
    resource: ApiResource,
    value: unknown,
    problem = 'an object without a metadata.name, or with a metadata.namespace that is not a string',
  ) {
    super('MISSING_METADATA', `${subject(resource, undefined)}: ${problem}`, {
      value,
      hint: 'the object was dropped; check what answers for this resource',
    })
  }
}

/** A text is not the JSON of one object. `key` is `namespace/name`, if known. */
export class MalformedObjectError extends CodedError {
  readonly key: string | undefined

  constructor(resource: ApiResource, key: string | undefined, value: unknown, cause: unknown) {
    super('MALFORMED_OBJECT', `${subject(resource, key)}: not one JSON object`, {
      value,
      hint: 'the response was damaged, or a transform returned a value that JSON cannot express',
      cause,
    })
    this.key = key
  }
}
