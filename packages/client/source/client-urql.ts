// In a clone nothing is built: programs with the condition `informerql-source` run the sources.
export * from '../../../src/client-urql.ts'
