import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { describeWithControlPlane } from '../support/control-plane-suite.ts'
import { capture, type Capture, capturedPath } from './capture.ts'

describeWithControlPlane('the captured API', (plane) => {
  it('is what a server of that version says about itself', async ({ skip }) => {
    const fresh = await capture(plane())
    const file = capturedPath(`${fresh.version.major}.${fresh.version.minor}`)
    skip(!existsSync(file), `no capture of ${fresh.version.gitVersion}`)
    const kept = JSON.parse(gunzipSync(await readFile(file)).toString()) as Capture
    const versions = `${fresh.version.gitVersion}, captured from ${kept.version.gitVersion}`
    skip(fresh.version.gitVersion !== kept.version.gitVersion, versions)
    // The rest of the version names the Go release and the platform, which may differ.
    expect({ ...fresh, version: '' }).toEqual({ ...kept, version: '' })
  })
})
