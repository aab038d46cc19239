import './look/page.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { GatewayProvider } from './gateway/gateway-provider.tsx'
import { pageGateway } from './gateway/page-gateway.ts'
import { followSession } from './gateway/session.ts'
import { restoreScope } from './frame/address-place.tsx'
import { followMissingFiles } from './frame/view-error.tsx'
import { router } from './router.tsx'
import { pageNonce } from './look/page-nonce.ts'
import { applyTheme } from './look/theme.ts'

applyTheme()
followMissingFiles()
restoreScope()
followSession()
const root = document.querySelector('#root')
if (root === null) throw new Error('the page has no #root')
createRoot(root).render(
  <StrictMode>
    <CSPProvider nonce={pageNonce()}>
      <GatewayProvider gateway={pageGateway}>
        <RouterProvider router={router} />
      </GatewayProvider>
    </CSPProvider>
  </StrictMode>,
)
