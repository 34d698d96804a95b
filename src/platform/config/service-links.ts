type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables that Kubernetes gives to every container for a Service whose name begins with `tessera`, unless the pod has
 * `enableServiceLinks: false`: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const SERVICE_LINK = /^TESSERA_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

/** `TESSERA_PORT` of the Service, which is not the port to listen on. */
const SERVICE_URL = /^(tcp|udp|sctp):\/\//;
const PORT = /^TESSERA_(\w+_)?PORT$/;

const isServiceLink = (name: string, value = ''): boolean =>
  SERVICE_LINK.test(name) || (PORT.test(name) && SERVICE_URL.test(value));

/** The environment without these: they are no settings, and do no harm. */
export const withoutServiceLinks = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name, value]) => !isServiceLink(name, value)));
