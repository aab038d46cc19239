/** The texts of asking for a part of an object, and the parts that are asked for most. Only the pages that ask load them. */
export const partWords = {
  part: 'Part',
  whole: 'The object itself',
  kindHint: 'A kind, or a part of one: pods/exec',
  core: 'core',
} as const

/** A part of the objects of a kind: rights to it are rights of their own. */
export interface Part {
  /** As one types it: `pods/exec`. */
  readonly typed: string
  /** The type of the object. */
  readonly type: string
  readonly subresource: string
  readonly does: string
}

const part = (type: string, resource: string, subresource: string, does: string): Part => ({
  typed: `${resource}/${subresource}`,
  type,
  subresource,
  does,
})

export const parts: readonly Part[] = [
  part('Pod', 'pods', 'exec', 'open a shell'),
  part('Pod', 'pods', 'log', 'read logs'),
  part('Pod', 'pods', 'eviction', 'evict'),
  part('Pod', 'pods', 'portforward', 'forward ports'),
  part('Deployment', 'deployments', 'scale', 'scale'),
  part('StatefulSet', 'statefulsets', 'scale', 'scale'),
  part('ReplicaSet', 'replicasets', 'scale', 'scale'),
]
