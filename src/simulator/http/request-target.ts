/** What the path of a request is about: a resource of a group and version, and perhaps one object or a part of it. */
export interface RequestTarget {
  /** `''` for the core group. */
  readonly group: string
  readonly version: string
  /** `''` where the path is about no namespace. */
  readonly namespace: string
  readonly resource: string
  /** `''` for a collection. */
  readonly name: string
  /** `''` for the object itself. */
  readonly subresource: string
}

/**
 * Takes a path below `/api` or `/apis` apart, as kube-apiserver's RequestInfo does. `undefined` where it names no
 * resource; a path of a collection ends in one, `/api/v1/namespaces/default/pods`.
 */
export function requestTarget(path: string): RequestTarget | undefined {
  const [root, ...rest] = path.split('/').slice(1).map(decoded)
  if (root !== 'api' && root !== 'apis') return undefined
  const group = root === 'apis' ? rest.shift() : ''
  const version = rest.shift()
  if (group === undefined || version === undefined || rest.length === 0) return undefined
  const [first = '', namespace = '', inside] = rest
  // `namespaces` and what is in one share a path; `status` and `finalize` are the namespace's own.
  const scoped =
    first === 'namespaces' && inside !== undefined && !['status', 'finalize'].includes(inside)
  const [resource = '', name = '', subresource = '', ...more] = scoped ? rest.slice(2) : rest
  if (resource === '' || more.length > 0) return undefined
  return { group, version, namespace: scoped ? namespace : '', resource, name, subresource }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
