/** A time as RFC 3339 text in UTC, to the second: `2026-11-21T09:30:00Z`. */
export type Time = string

/** A time as RFC 3339 text in UTC, to the microsecond: `2026-11-21T09:30:00.123456Z`. */
export type MicroTime = string

/** An amount as the server writes it: `100m`, `2Gi`. Amounts of equal size may have different texts. */
export type Quantity = string

/** A number, or text such as `25%` or the name of a port. */
export type IntOrString = number | string

/** A number of more digits than a double holds, as `JSON.rawJSON` makes it: `JSON.stringify` writes its digits. */
export interface RawNumber {
  readonly rawJSON: string
}

/**
 * An integer of 64 bits: a number, or where a double cannot hold it (beyond 2^53) its digits, so that none is lost. Sent
 * back as it is, it is unchanged; to count with it, take {@link int64ToBigInt} or {@link int64ToNumber}.
 */
export type Int64 = number | RawNumber

/** Bytes in base64. */
export type Base64 = string

/** A text with these known values; a newer server may send others. */
export type OpenEnum<Known extends string> = Known | (string & {})
