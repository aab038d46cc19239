import type { AppPlan } from './company-plan.ts'

/** The labels that select an app's pods; they never change over its life. */
export function selectorLabels(app: AppPlan): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': app.name, 'app.kubernetes.io/instance': app.name }
}

/** The labels of everything that belongs to an app. */
export function appLabels(app: AppPlan): Readonly<Record<string, string>> {
  return {
    ...selectorLabels(app),
    'app.kubernetes.io/component': app.role,
    'app.kubernetes.io/part-of': app.team,
    'app.kubernetes.io/managed-by': 'argocd',
    'app.kubernetes.io/version': app.version,
    environment: app.environment,
    team: app.team,
  }
}

/** The names of what an app's pods refer to. */
export function partNames(app: Pick<AppPlan, 'name'>): {
  readonly configMap: string
  readonly secret: string
  readonly serviceAccount: string
  readonly headlessService: string
} {
  return {
    configMap: `${app.name}-config`,
    secret: `${app.name}-credentials`,
    serviceAccount: app.name,
    headlessService: `${app.name}-headless`,
  }
}

/** The Secret in every team's namespace that opens the company's registry. */
export const pullSecret = 'registry-pull'

/** The ConfigMap that the controller manager puts into every namespace. */
export const rootCertificate = 'kube-root-ca.crt'
