import { WritesDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'

/** Whether the gateway takes writes at all: `can` says what the API server would allow, also where there are no mutations. */
export function useTakesWrites(): boolean {
  const { data } = useAnswer(WritesDocument, {})
  return (data?.gatewayClusters ?? []).some(({ writable }) => writable)
}
