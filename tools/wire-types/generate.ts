// Writes src/kubernetes/wire/*.ts and src/kubernetes/resources.ts. Run by `npm run generate:wire-types`; `test/wire-types` holds the files equal to it.
import { writeFileSync } from 'node:fs'
import { formattedFiles, formattedResources } from './formatted-files.ts'

const folder = new URL('../../src/kubernetes/wire/', import.meta.url)
for (const [name, text] of await formattedFiles()) writeFileSync(new URL(name, folder), text)
writeFileSync(new URL('../resources.ts', folder), await formattedResources())
