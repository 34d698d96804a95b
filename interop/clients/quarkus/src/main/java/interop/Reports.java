package interop;

import io.quarkus.security.identity.SecurityIdentity;
import jakarta.annotation.security.RolesAllowed;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** A page for a role, with the settings that docs/how-to/connect-with-groups.md prints. */
@Path("/reports")
public class Reports {
    @Inject
    SecurityIdentity identity;

    @GET
    @RolesAllowed("reporters")
    public String read() {
        return identity.getRoles().toString();
    }
}
