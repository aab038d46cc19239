/**
 * `informerql/controller`: the parts of a controller around its informers and its work queue, which are in
 * `informerql/informer`.
 */
import './lib/node-version.ts'
export {
  type LeaderElectionCallbacks,
  leaderElectionDefaults,
  type LeaderElectionObserver,
  type LeaderElectionOptions,
  LeadershipLostError,
  type LeaderTerm,
  runLeaderElection,
} from './controller/leader-election.ts'
