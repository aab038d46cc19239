import './lib/node-version.ts'
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator/simulator.ts'
export type { SimulatorUser } from './simulator/access/authentication.ts'
export type { Faults } from './simulator/faults/faults.ts'
export type {
  Connections,
  FaultMatch,
  FaultOrder,
  PendingFault,
  RequestFault,
  ServerFault,
  TooLargeEncoding,
} from './simulator/faults/faults.ts'
export type { ResourceName, Storage } from './simulator/storage/storage.ts'
export { type SimulatedClusterOptions, startSimulatedCluster } from './simulator/simulated-fleet.ts'
export {
  type SimulatedFleet,
  type SimulatedFleetCluster,
  type SimulatedFleetOptions,
  startSimulatedFleet,
} from './simulator/simulated-fleet.ts'
export type { KubernetesVersion } from './simulator/api/captured-api.ts'
export { type Churn, type ChurnOptions, createChurn } from './simulator/churn/churn.ts'
export type { ClusterWriter } from './simulator/churn/cluster.ts'
export { population } from './simulator/population/population.ts'
export type { PopulationOptions } from './simulator/population/plan.ts'
