import type { JsonText } from '../../lib/json.ts'
import type { ProblemSeverity } from '../../kubernetes/problems/problem-fact.ts'

/** One column of an object in `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly priority: number
  /** For a date, the time. */
  readonly value: unknown
  /** The time from which kubectl counts until now. */
  readonly since: string | null
}

/** What an object used when it was last measured. Quantities are as Kubernetes writes them. */
export interface ResourceUsage {
  readonly cpu: string | null
  readonly memory: string | null
  readonly at: string | null
  readonly window: string | null
  readonly containers: readonly ContainerUsage[] | null
}

/** What a container used in the same window. */
export interface ContainerUsage {
  readonly name: string
  readonly cpu: string | null
  readonly memory: string | null
}

/** Relay's page information. */
export interface PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly startCursor: string | null
  readonly endCursor: string | null
}

/** An object that uses another one. */
export interface UseSource {
  readonly object: ObjectRef
  /** The paths where it names the other one, with the numbers of list items. */
  paths(): readonly string[]
}

/** What is missing in an answer over clusters, or out of date. */
export interface ClusterGap {
  readonly cluster: string
  /** The type name of the kind; `null`: every kind of the cluster. */
  readonly type: string | null
  /** `NOT_SERVED`, or the code of an error. */
  readonly code: string
  readonly message: string
  /** Since when it cannot be reached, or what the answer has of it may be out of date, by RFC 3339. */
  readonly since: string | null
}

/** A container whose log is read. */
export interface LogPlace {
  readonly cluster: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
}

/** One line of a log. */
export interface LogLine extends LogPlace {
  /** RFC 3339 with nine digits after the second; `null` if the line has none. */
  readonly time: string | null
  readonly text: string
  readonly truncated: boolean
  /** The line as a JSON object, with all its digits; `null` if it is none. */
  readonly fields: JsonText | null
}

/** How the log of a container is read at this time. */
export interface LogStreamState extends LogPlace {
  readonly state: 'WAITING' | 'STREAMING' | 'ENDED' | 'FAILED'
  /** A word, such as `ContainerCreating`, `Completed`, `FORBIDDEN`. */
  readonly reason: string | null
  readonly message: string | null
}

/** A part of the logs of some pods: the answer of a query, or a frame. */
export interface PodLogsSource {
  readonly lines: readonly LogLine[]
  /** `null` if none has changed since the frame before. */
  readonly streams: readonly LogStreamState[] | null
  readonly skipped: number
  readonly notFollowed: number
  readonly incomplete: readonly ClusterGap[]
}

/** One value of an index, and the objects of the list that have it. */
export interface FacetValue {
  readonly value: string | number | boolean
  readonly count: number
  readonly sums: readonly IndexSum[]
}

/** The sum of an index over some objects. */
export interface IndexSum {
  readonly of: string
  /** A quantity in canonical form. */
  readonly value: string
  readonly number: number
  /** The number of objects that have a value. */
  readonly count: number
}

/** The distribution of the objects of a list over the values of an index. */
export interface Facet {
  readonly by: string
  /** Most frequent first. */
  readonly values: readonly FacetValue[]
  /** The number of all values, including those beyond `top`. */
  readonly distinctCount: number
  /** The number of objects without a value. */
  readonly missingCount: number
}

/** A reference to an object of any kind, whether or not the object exists. */
export interface ObjectRef {
  readonly cluster: string
  readonly group: string
  /** `null` if only the group is known. */
  readonly apiVersion: string | null
  readonly kind: string
  /** `null` for cluster-scoped objects. */
  readonly namespace: string | null
  readonly name: string
  /** `null` if only the name is known. */
  readonly uid: string | null
}

/** One result of `search`: the object, and its value with the text. */
export interface SearchResultSource {
  readonly object: ObjectRef
  /** `name`, `labels["app"]`, or the name of an index. */
  readonly matched: string
  readonly value: string
}

/** The number of results of one kind. */
export interface TypeCount {
  readonly type: string
  readonly count: number
}

/** A Warning Event. */
export interface ProblemEvent {
  readonly reason: string
  readonly message: string | null
  readonly count: number
  readonly lastSeen: string | null
}

/** The number of problems of one severity and kind. */
export interface ProblemCount {
  readonly severity: ProblemSeverity
  readonly type: string | null
  readonly kind: string
  readonly count: number
}

/** The content of a Secret besides its metadata. */
export interface SecretContents {
  /** Base64, by key. */
  readonly data: Readonly<Record<string, string>> | null
  readonly type: string | null
}

/** What the writes of one operation have done. They are made before the answer is read; dispose it after that. */
export interface WriteResults extends Disposable {
  /**
   * The value of a field of `Mutation`, by its response key: its payload, of `apply` one for each document, or what the
   * resolver of an extension gave. Throws the error of the write.
   */
  result(key: string): unknown
}
