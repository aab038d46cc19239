import { GraphQLEnumType, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql'
import type { Health, HealthStatus } from '../../kubernetes/health/health.ts'
import { ownFields } from './field-source.ts'

const status = new GraphQLEnumType({
  name: 'HealthStatus',
  description: 'How an object is.',
  values: {
    HEALTHY: { description: 'It is as it is meant to be, or done.' },
    SUSPENDED: { description: 'Somebody has stopped it on purpose.' },
    TERMINATING: { description: 'It is being deleted.' },
    PROGRESSING: { description: 'It is on its way to what it is meant to be.' },
    UNKNOWN: { description: 'Who should report about it has fallen silent.' },
    DEGRADED: { description: 'Something is wrong that does not mend itself by waiting.' },
  } satisfies Record<HealthStatus, object>,
})

/** `Health`. Its source is a `Health`. */
export function buildHealthType(): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Health',
    description:
      'How an object is, told by itself alone: its status, as `kubectl rollout status` would read it, or its conditions.',
    fields: ownFields<'healthPart', Health, unknown>('healthPart', {
      status: { type: new GraphQLNonNull(status), description: 'The verdict.' },
      reason: {
        type: GraphQLString,
        description: 'Why, in a word: `CrashLoopBackOff`. Null where there is nothing to say.',
      },
      message: { type: GraphQLString, description: 'Why, in words for people.' },
    }),
  })
}
