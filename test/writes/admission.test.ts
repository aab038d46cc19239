import { once } from 'node:events'
import { createServer } from 'node:https'
import { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createCertificateAuthority } from '../api-server/certificates.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { refused, write } from './shop.ts'

const apply = 'apply(manifest: $manifest, namespace: "default", dryRun: true)'
const map = (name: string, data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

describeWithControlPlane('what admission denies', (plane) => {
  let gateway: ServedGateway
  beforeAll(async () => {
    gateway = await serveGateway({
      clusters: [{ name: 'test', kubeconfig: plane().kubeconfigPath }],
      allowWrites: true,
    })
  })
  afterAll(async () => gateway[Symbol.asyncDispose]())

  const post = async (path: string, body: object): Promise<void> => {
    const { status, text: said } = await plane().request(path, { method: 'POST', body })
    expect(status, said).toBe(201)
  }
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const rules = [
    {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['configmaps'],
    },
  ]

  it('a ValidatingAdmissionPolicy, by its name, its binding and its message', async () => {
    await post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name: 'no-red' },
      spec: {
        matchConstraints: { resourceRules: rules },
        validations: [
          {
            expression: "!('colour' in object.data) || object.data.colour != 'red'",
            message: 'red is not allowed here',
          },
        ],
      },
    })
    await post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name: 'no-red-anywhere' },
      spec: { policyName: 'no-red', validationActions: ['Deny'] },
    })
    const manifest = map('red', { colour: 'red' })
    // Policies take effect some seconds after they are made.
    await vi.waitFor(
      async () => expect((await write(gateway, apply, { manifest })).errors).toBeDefined(),
      { timeout: 60_000, interval: 500 },
    )
    expect(await refused(gateway, apply, { manifest })).toMatchObject({
      code: 'ADMISSION_DENIED',
      admission: {
        by: 'POLICY',
        name: 'no-red',
        binding: 'no-red-anywhere',
        message: 'red is not allowed here',
      },
    })
    const blue = await write(gateway, apply, { manifest: map('blue', { colour: 'blue' }) })
    expect(blue.errors).toBeUndefined()
  })

  it('a webhook, by its name and its message; its warnings are handed through', async () => {
    await using authority = await createCertificateAuthority()
    const { cert, key } = await authority.issue({ name: 'webhook' })
    const server = createServer({ cert, key }, (request, response) => {
      void text(request).then((body) => {
        const { request: asked } = JSON.parse(body)
        const allowed = asked.object.data?.colour !== 'green'
        response.end(
          JSON.stringify({
            apiVersion: 'admission.k8s.io/v1',
            kind: 'AdmissionReview',
            response: {
              uid: asked.uid,
              allowed,
              warnings: ['colours are deprecated'],
              ...(allowed ? {} : { status: { message: 'green is out of stock' } }),
            },
          }),
        )
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      await post(`${admission}/validatingwebhookconfigurations`, {
        metadata: { name: 'colours' },
        webhooks: [
          {
            name: 'colours.example.com',
            rules,
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            clientConfig: {
              url: `https://127.0.0.1:${port}/`,
              caBundle: Buffer.from(authority.ca).toString('base64'),
            },
          },
        ],
      })
      const manifest = map('green', { colour: 'green' })
      await vi.waitFor(
        async () => expect((await write(gateway, apply, { manifest })).errors).toBeDefined(),
        { timeout: 60_000, interval: 500 },
      )
      expect(await refused(gateway, apply, { manifest })).toMatchObject({
        code: 'ADMISSION_DENIED',
        admission: { by: 'WEBHOOK', name: 'colours.example.com', message: 'green is out of stock' },
      })
      const { data } = await write(gateway, apply, { manifest: map('blue', { colour: 'blue' }) })
      expect(data.apply[0].warnings).toEqual(['colours are deprecated'])
    } finally {
      await plane().request(`${admission}/validatingwebhookconfigurations/colours`, {
        method: 'DELETE',
      })
      server.closeAllConnections()
      server.close()
    }
  })

  it.each([
    ['refuses connections', 'url', /connection refused/],
    ['does not answer in its time', 'hang', /deadline exceeded|Timeout/i],
    ['answers with an error', 'broken', /could not|unable|error|unexpected/i],
    ['has no Service', 'service', /service "nobody" not found/],
  ])('a webhook that %s, by its name: not as an unreachable cluster', async (_, form, cause) => {
    await using authority = await createCertificateAuthority()
    const { cert, key } = await authority.issue({ name: 'webhook' })
    const server = createServer({ cert, key }, (_request, response) => {
      if (form === 'broken') response.writeHead(500).end('no')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    if (form === 'url') server.close()
    const name = `${form}.example.com`
    const configuration = `${admission}/validatingwebhookconfigurations`
    const caBundle = Buffer.from(authority.ca).toString('base64')
    try {
      await post(configuration, {
        metadata: { name: form },
        webhooks: [
          {
            name,
            rules: rules.map((one) => ({ ...one, resources: ['configmaps', 'secrets'] })),
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            timeoutSeconds: 1,
            failurePolicy: 'Fail',
            objectSelector: { matchLabels: { checked: form } },
            clientConfig:
              form === 'service'
                ? { service: { namespace: 'default', name: 'nobody' } }
                : { url: `https://127.0.0.1:${port}/`, caBundle },
          },
        ],
      })
      const labelled = (kind: string, more: object): object => ({
        apiVersion: 'v1',
        kind,
        metadata: { name: `checked-${form}`, labels: { checked: form } },
        ...more,
      })
      const manifest = labelled('ConfigMap', { data: { a: 'b' } })
      await vi.waitFor(
        async () =>
          expect((await refused(gateway, apply, { manifest })).admission).toMatchObject({ name }),
        { timeout: 60_000, interval: 500 },
      )
      const error = await refused(gateway, apply, { manifest })
      expect(error).toMatchObject({
        code: 'ADMISSION_DENIED',
        admission: { by: 'WEBHOOK', name, failed: true, message: expect.stringMatching(cause) },
        retryAfterMs: expect.any(Number),
      })
      const { errors } = await write(gateway, apply, { manifest })
      expect(errors?.[0]?.message).toContain(name)
      // What the API server says may quote values of a Secret. The name of the webhook does not.
      const secret = labelled('Secret', { stringData: { password: 'hunter2' } })
      const hidden = await write(gateway, apply, { manifest: secret })
      expect(hidden.errors?.[0]?.message).toContain(name)
      expect(hidden.errors?.[0]?.extensions).toMatchObject({
        code: 'ADMISSION_DENIED',
        admission: { by: 'WEBHOOK', name, failed: true, message: '' },
      })
      expect(JSON.stringify(hidden.errors)).not.toContain('hunter2')
    } finally {
      await plane().request(`${configuration}/${form}`, { method: 'DELETE' })
      server.closeAllConnections()
      server.close()
    }
  })

  it('a policy whose expression fails, by its name', async () => {
    await post(`${admission}/validatingadmissionpolicies`, {
      metadata: { name: 'fails' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: rules,
          objectSelector: { matchLabels: { checked: 'policy' } },
        },
        validations: [{ expression: "object.data['absent'] == 'x'" }],
      },
    })
    await post(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name: 'fails-here' },
      spec: { policyName: 'fails', validationActions: ['Deny'] },
    })
    const metadata = { name: 'by-policy', labels: { checked: 'policy' } }
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } }
    await vi.waitFor(
      async () =>
        expect((await refused(gateway, apply, { manifest })).admission).toMatchObject({
          by: 'POLICY',
        }),
      { timeout: 60_000, interval: 500 },
    )
    expect(await refused(gateway, apply, { manifest })).toMatchObject({
      code: 'ADMISSION_DENIED',
      admission: { by: 'POLICY', name: 'fails', binding: 'fails-here', failed: true },
    })
  })
})
