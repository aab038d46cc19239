import { fieldsOf, textOf } from '../fields.ts'
import { conditionsOf, conditionWith } from './condition.ts'
import { degraded, type HealthRule, healthy, progressing, suspended } from './health.ts'

export const autoscalerHealth: HealthRule = {
  of(object) {
    const conditions = conditionsOf(object)
    const able = conditionWith(conditions, 'AbleToScale', 'False')
    if (able !== undefined) return degraded(able.reason ?? able.type, able.message)
    const inactive = conditionWith(conditions, 'ScalingActive', 'False')
    if (inactive?.reason === 'ScalingDisabled') {
      return suspended(inactive.reason, inactive.message)
    }
    if (inactive !== undefined) return degraded(inactive.reason ?? inactive.type, inactive.message)
    if (conditions.size === 0) return progressing('NoStatus')
    const limited = conditionWith(conditions, 'ScalingLimited', 'True')
    return limited === undefined
      ? healthy
      : { status: 'HEALTHY', reason: limited.reason, message: limited.message }
  },
}

export const apiServiceHealth: HealthRule = {
  of(object) {
    const available = conditionsOf(object).get('Available')
    if (available?.status === 'True') return healthy
    if (available === undefined) return progressing('NoStatus')
    return degraded(available.reason ?? 'NotAvailable', available.message)
  },
}

export const customResourceDefinitionHealth: HealthRule = {
  of(object) {
    const conditions = conditionsOf(object)
    for (const [type, status] of [
      ['NamesAccepted', 'False'],
      ['NonStructuralSchema', 'True'],
      ['KubernetesAPIApprovalPolicyConformant', 'False'],
    ] as const) {
      const found = conditionWith(conditions, type, status)
      if (found !== undefined) return degraded(found.reason ?? type, found.message)
    }
    const established = conditions.get('Established')
    if (established?.status === 'True') return healthy
    return progressing(established?.reason ?? 'NotEstablished', established?.message)
  },
}

export const signingRequestHealth: HealthRule = {
  of(object) {
    const conditions = conditionsOf(object)
    for (const type of ['Denied', 'Failed']) {
      const found = conditions.get(type)
      if (found !== undefined) return degraded(found.reason ?? type, found.message)
    }
    if (!conditions.has('Approved')) return progressing('Pending', 'it is not approved yet')
    const { certificate } = fieldsOf(object['status'])
    return textOf(certificate) === undefined ? progressing('Signing') : healthy
  },
}

/** Many controllers never report the address of an Ingress, so a missing address does not make it unhealthy. */
export const ingressHealth: HealthRule = {
  of(object) {
    const { ingress } = fieldsOf(fieldsOf(object['status'])['loadBalancer'])
    if (Array.isArray(ingress) && ingress.length > 0) return healthy
    return {
      status: 'HEALTHY',
      reason: 'NoAddress',
      message: 'no controller has reported its address',
    }
  },
}

export const flowSchemaHealth: HealthRule = {
  of(object) {
    const dangling = conditionWith(conditionsOf(object), 'Dangling', 'True')
    return dangling === undefined
      ? healthy
      : degraded(dangling.reason ?? dangling.type, dangling.message)
  },
}
