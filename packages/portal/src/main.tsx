import './look/base.css'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { answers } from './gateway/gateway.ts'
import { reloadAfterUpdate } from './frame/view-error.tsx'
import { router } from './router.tsx'
import { restoreScope } from './scope.ts'
import { applyTheme } from './look/theme.ts'

applyTheme()
reloadAfterUpdate()
restoreScope()
// What the page may insert <style> elements with.
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
const root = document.querySelector('#root')
if (root === null) throw new Error('the page has no #root')
createRoot(root).render(
  <StrictMode>
    <CSPProvider nonce={nonce}>
      <QueryClientProvider client={answers}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
