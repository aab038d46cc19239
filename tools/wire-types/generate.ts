// Writes src/kubernetes/wire/*.ts. Run by `npm run generate:wire-types`; `test/wire-types` holds the files equal to it.
import { writeFileSync } from 'node:fs'
import { formattedFiles } from './formatted-files.ts'

const folder = new URL('../../src/kubernetes/wire/', import.meta.url)
for (const [name, text] of await formattedFiles()) writeFileSync(new URL(name, folder), text)
