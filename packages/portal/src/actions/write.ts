import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { TypedDocumentString, WritePartsFragment } from '../gateway/documents.ts'
import { type AnswerError, type Gateway, GatewayError, useGateway } from '../gateway/gateway.ts'

/** What a write has done; of a dry run, what it would do. */
export type Written = WritePartsFragment

/** A mutation with one write, under the name `write`. */
export type WriteDocument = TypedDocumentString<{ readonly write: Written | null }, never>

export type WriteVariables = Readonly<Record<string, unknown>> & { readonly id: string }

/** Makes a write. Rejects with {@link GatewayError} if it is refused. */
export async function write(
  gateway: Gateway,
  document: WriteDocument,
  variables: WriteVariables & { readonly dryRun: boolean },
): Promise<Written> {
  // Each document has other variables: its action gives them.
  return writtenOf(await gateway.ask(document, variables as never))
}

/** The first write of an answer. Throws {@link GatewayError} if it was refused. */
export function writtenOf({
  data,
  errors,
}: {
  readonly data: { readonly write: Written | null | readonly (Written | null)[] }
  readonly errors: readonly AnswerError[]
}): Written {
  const [written] = [data.write].flat()
  if (written === null || written === undefined) throw new GatewayError(errors)
  return written
}

/** The errors of a write that failed. */
export function refusalOf(error: Error): readonly AnswerError[] {
  return error instanceof GatewayError ? error.errors : [{ message: error.message }]
}

/** The fields that errors of the API server are about. */
export function fieldsIn(errors: readonly AnswerError[]): readonly string[] {
  return errors.flatMap(({ extensions }) => {
    const { causes, conflicts } = extensions ?? {}
    return [causes, conflicts].flatMap((list) =>
      Array.isArray(list) ? (list as { readonly field: string }[]).map(({ field }) => field) : [],
    )
  })
}

/** Whether the only conflicts are with what was set in the gateway's own name. */
export function isOwnConflict(errors: readonly AnswerError[]): boolean {
  const conflicts = errors.flatMap(({ extensions }) => {
    const { conflicts: list } = extensions ?? {}
    return Array.isArray(list) ? (list as { readonly manager: string }[]) : []
  })
  return conflicts.length > 0 && conflicts.every(({ manager }) => manager === 'informerql')
}

/** What a write would do. */
export interface Preview {
  readonly written: Written | undefined
  readonly errors: readonly AnswerError[] | undefined
  readonly isPending: boolean
  readonly again: () => void
}

/** How long the inputs rest before the API server is asked. */
const restMs = 300

/**
 * Asks the API server what a write would do, again for other variables, and when `state`, what people write of the object,
 * is another one. `undefined` variables: something is not filled in yet.
 */
export function usePreview(
  document: WriteDocument,
  variables: WriteVariables | undefined,
  state: unknown,
): Preview {
  const gateway = useGateway()
  const asked = variables === undefined ? 'null' : JSON.stringify([variables, state])
  const [rested, setRested] = useState(asked)
  useEffect(() => {
    if (asked === rested) return
    const timer = setTimeout(() => setRested(asked), restMs)
    return () => clearTimeout(timer)
  }, [asked, rested])
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['dry run', document.toString(), rested],
    queryFn: () =>
      write(gateway, document, {
        ...(JSON.parse(rested) as readonly [WriteVariables])[0],
        dryRun: true,
      }),
    enabled: variables !== undefined && rested !== 'null',
    gcTime: 0,
    retry: false,
    staleTime: Infinity,
  })
  const isSettled = asked === rested && !isFetching
  return {
    written: isSettled ? data : undefined,
    errors: isSettled && error !== null ? refusalOf(error) : undefined,
    isPending: variables !== undefined && !isSettled,
    again: () => void refetch(),
  }
}
