import { QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Gateway, GatewayContext } from './gateway.ts'

/** Gives the views below it their gateway. */
export function GatewayProvider({
  gateway,
  children,
}: {
  readonly gateway: Gateway
  readonly children: ReactNode
}) {
  return (
    <GatewayContext value={gateway}>
      <QueryClientProvider client={gateway.answers}>{children}</QueryClientProvider>
    </GatewayContext>
  )
}
