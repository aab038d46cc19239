import { useQuery } from '@tanstack/react-query'
import { type Gateway, useGateway } from '../gateway/gateway.ts'

/** Whether the gateway opens shells at all. */
export function useShells(enabled: boolean): boolean {
  const gateway = useGateway()
  const { data } = useQuery({
    queryKey: ['exec'],
    queryFn: ({ signal }) => areShells(gateway, signal),
    staleTime: 600_000,
    enabled,
  })
  return data === true
}

async function areShells({ url }: Gateway, signal: AbortSignal): Promise<boolean> {
  const response = await fetch(new URL('exec', new URL(url, location.href)), { signal })
  const { allowed } = (await response.json()) as { readonly allowed: boolean }
  return allowed
}
