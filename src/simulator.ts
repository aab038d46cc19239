export { type Simulator, type SimulatorOptions, startSimulator } from './simulator/simulator.ts'
export type { SimulatorUser } from './simulator/authentication.ts'
export type { Faults } from './simulator/faults/faults.ts'
export type {
  FaultMatch,
  FaultOrder,
  PendingFault,
  RequestFault,
  ServerFault,
  TooLargeEncoding,
} from './simulator/faults/fault.ts'
export type { ResourceName, Storage } from './simulator/storage.ts'
