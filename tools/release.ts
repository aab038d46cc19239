/**
 * Packs every package that is published, with an SBOM (CycloneDX) of what it installs, into `release/`:
 *
 *     npm run build && node tools/release.ts [--out FOLDER] [--tag v0.1.0]
 *
 * `--tag`: fails unless it names the version of all of them. npm resolves the dependencies for the SBOMs as a user's `npm install` would.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  devDependencies?: unknown
}

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'release') }, tag: { type: 'string' } },
})
const out = resolve(values.out)
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })

const read = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest
const npm = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8' })

/** The tarballs of these packages by name: what is published last depends on those before. */
const tarballs = new Map<string, string>()
for (const folder of ['packages/client', 'packages/controller', 'packages/portal', '.']) {
  const { name, version } = read(join(root, folder, 'package.json'))
  if (values.tag !== undefined && values.tag !== `v${version}`)
    throw new Error(`the tag is ${values.tag}, and ${name} is ${version}`)
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', out]
  const tarball =
    npm(join(root, folder), ...pack)
      .trim()
      .split('\n')
      .at(-1) ?? ''
  tarballs.set(name, join(out, tarball))
  writeFileSync(join(out, tarball.replace(/tgz$/, 'cdx.json')), softwareBill(join(out, tarball)))
  console.log(tarball)
}

/** The SBOM of a tarball, from the lock file that its installation would have. */
function softwareBill(tarball: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'informerql-release-'))
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
    const manifest = read(join(folder, 'package.json'))
    // Not installed by users, and npm counts what both need as needed for development only.
    delete manifest.devDependencies
    const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => {
      const own = tarballs.get(name)
      return [name, own === undefined ? range : `file:${own}`]
    })
    const installed = { ...manifest, dependencies: Object.fromEntries(dependencies) as object }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(installed))
    npm(folder, 'install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--silent')
    const bill = npm(folder, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx')
    const { metadata, ...rest } = JSON.parse(bill) as { readonly metadata: { component: object } }
    // npm writes the name of the folder.
    const component = { ...metadata.component, name: manifest.name }
    return JSON.stringify({ ...rest, metadata: { ...metadata, component } }, undefined, 2)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
