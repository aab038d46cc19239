import { credentials } from './credentials.ts'
import { Gateway } from './gateway.ts'
import { onRenewal, refused } from './session.ts'

/** The gateway that served the page. */
export const pageGateway: Gateway = new Gateway({
  url: '/graphql',
  credentials,
  onRefused: refused,
})

onRenewal((authorization) => pageGateway.prolong(authorization))
