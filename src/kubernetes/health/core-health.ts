import { countOf, fieldsOf, itemsOf, textOf } from '../fields.ts'
import { conditionsOf, conditionWith } from './condition.ts'
import { degraded, type HealthRule, healthy, progressing, suspended } from './health.ts'

const troubles = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']

/** UNKNOWN if the kubelet is silent, SUSPENDED if the node accepts no new pods. */
export const nodeHealth: HealthRule = {
  of(object) {
    const conditions = conditionsOf(object)
    const ready = conditions.get('Ready')
    if (ready === undefined) return { status: 'UNKNOWN', reason: 'NoStatus' }
    const { reason = 'NotReady', message } = ready
    if (ready.status === 'Unknown') return { status: 'UNKNOWN', reason, message }
    if (ready.status !== 'True') return degraded(reason, message)
    for (const type of troubles) {
      const trouble = conditionWith(conditions, type, 'True')
      if (trouble !== undefined) return degraded(type, trouble.message)
    }
    const isCordoned = fieldsOf(object['spec'])['unschedulable'] === true
    return isCordoned ? suspended('Cordoned', 'it takes no new pods') : healthy
  },
}

export const namespaceHealth: HealthRule = {
  of(object) {
    if (fieldsOf(object['status'])['phase'] !== 'Terminating') return healthy
    return { status: 'TERMINATING', reason: 'Deleted' }
  },
}

/** Only services with a load balancer have anything to wait for. */
export const serviceHealth: HealthRule = {
  of(object) {
    const spec = fieldsOf(object['spec'])
    const { ingress } = fieldsOf(fieldsOf(object['status'])['loadBalancer'])
    if (spec['type'] !== 'LoadBalancer' || itemsOf(ingress).length > 0) return healthy
    if (Array.isArray(spec['externalIPs']) && spec['externalIPs'].length > 0) return healthy
    return progressing('NoAddress', 'the load balancer has no address yet')
  },
}

const failedResizes = ['ControllerResizeError', 'NodeResizeError', 'ModifyVolumeError']
const resizes = ['Resizing', 'FileSystemResizePending', 'ModifyingVolume']

export const claimHealth: HealthRule = {
  of(object) {
    const phase = textOf(fieldsOf(object['status'])['phase']) ?? 'Pending'
    if (phase === 'Lost') return degraded(phase, 'the volume that it was bound to is gone')
    if (phase !== 'Bound') return progressing(phase, 'no volume is bound to it yet')
    const conditions = conditionsOf(object)
    for (const type of [...failedResizes, ...resizes]) {
      const found = conditionWith(conditions, type, 'True')
      if (found === undefined) continue
      const isFailed = failedResizes.includes(type)
      return { status: isFailed ? 'DEGRADED' : 'PROGRESSING', reason: type, message: found.message }
    }
    return healthy
  },
}

/** A released volume that is kept waits for its administrator, one to be deleted for its driver. */
export const volumeHealth: HealthRule = {
  of(object) {
    const status = fieldsOf(object['status'])
    const message = textOf(status['message'])
    const phase = textOf(status['phase']) ?? 'Pending'
    switch (phase) {
      case 'Failed':
        return degraded(textOf(status['reason']) ?? phase, message)
      case 'Pending':
        return progressing(phase, message)
      case 'Released': {
        const policy = fieldsOf(object['spec'])['persistentVolumeReclaimPolicy']
        return policy === 'Retain'
          ? { status: 'HEALTHY', reason: phase, message }
          : progressing(phase, message)
      }
      default:
        return healthy
    }
  },
}

export const volumeAttachmentHealth: HealthRule = {
  of(object) {
    const { attached, attachError, detachError } = fieldsOf(object['status'])
    const error = fieldsOf(attachError ?? detachError)
    const message = textOf(error['message'])
    if (message !== undefined) {
      return degraded(attachError === undefined ? 'DetachError' : 'AttachError', message)
    }
    return attached === true ? healthy : progressing('Attaching')
  },
}

/** With fewer pods than the budget requires there is no room for a disruption. */
export const disruptionBudgetHealth: HealthRule = {
  of(object) {
    const status = fieldsOf(object['status'])
    const allowed = conditionsOf(object).get('DisruptionAllowed')
    if (allowed?.reason === 'SyncFailed') return degraded(allowed.reason, allowed.message)
    const [have, want] = [countOf(status['currentHealthy']), countOf(status['desiredHealthy'])]
    return have < want ? degraded('TooFewPods', `${have} of ${want} pods are healthy`) : healthy
  },
}
